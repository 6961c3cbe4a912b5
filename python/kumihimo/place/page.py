def render(wanted, result, chosen): return ""
