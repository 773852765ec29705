"""Whom the generated records are about."""

from __future__ import annotations

# No two begin with the same five letters, so that no near-duplicate rule takes one for another.
PERSONAS = tuple(
    """
    Agnieszka Alistair Beatriz Bertrand Callum Carmela Dagmar Deepika Eamon Esperanza Fabrice
    Farida Gideon Giulia Hannes Hyacinth Ibrahim Isolde Joaquin Jolanta Kaspar Katarzyna Lamine
    Leontine Magnus Marisol Nathaniel Noemi Octavia Olivier Pascal Philippa Rashida Reinhold
    Roswitha Salome Sebastian Shirin Silvester Tabitha Thaddeus Umberto Urszula Valentin Violeta
    Waleed Winifred Yannick Yolanda Zacharias Zuleika Ambrose Bettina Cyprian Delphine Ernesto
    Fleur Gottfried Harriet Ingrid Jeremiah Klaudia Lorenzo Mireille
    """.split()
)
RELATIONS = tuple(
    "sister brother cousin neighbour colleague flatmate uncle niece tenant trainer".split()
)
RELATIVES = tuple(
    """
    Aurel Bianka Cosmo Dalia Edwin Flora Gregor Hilda Igor Judit Kerem Lotte Milan Nora Orhan
    Paloma Remy Sabine Tibor Uma Viktor Wanda Yvo Zita Anouk Boris Celine Dario Elsa Felipe Greta
    Hugo Irma Jakob Karla Lionel Marta Nils Olga Piotr Renata Stefan Thea Udo Vera Wilma Yara Zeno
    """.split()
)
CIRCLE = 1 + len(RELATIONS) * len(RELATIVES)


def subject(persona: str, n: int) -> str:
    """Say whom a fact is about: the persona, or one of those around it.

    Parameters
    ----------
    persona : str
        Name.
    n : int
        0 for the persona, from 1 below `CIRCLE` for another one each.

    Examples
    --------
    >>> subject("Magnus", 0), subject("Magnus", 1), subject("Magnus", 12)
    ('Magnus', "Magnus's sister Aurel", "Magnus's brother Igor")
    """
    if n == 0:
        return persona
    row, column = divmod(n - 1, len(RELATIONS))
    # Shifted by row, so that neighbours in number share neither relation nor name.
    relative = RELATIVES[(row + column * 7) % len(RELATIVES)]
    return f"{persona}'s {RELATIONS[column]} {relative}"
