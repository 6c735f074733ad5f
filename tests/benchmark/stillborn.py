"""A worker that ends before it has begun, as it does in a script without a main guard. Imports nothing, to be quick."""


def serve(connection, work, n_threads):
    pass
