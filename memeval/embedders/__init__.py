"""Embedders: texts in, unit vectors out, so that a store can find what is meant and not only said.

``hash`` needs nothing, ``table`` a file that ships with memeval, ``minilm`` the extra ``semantic``.
"""
