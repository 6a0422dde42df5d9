def add(m):
    pass
