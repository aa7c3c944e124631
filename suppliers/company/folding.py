"""Words in SQL as `core.text_folding` folds them in Python."""


def folded_sql(text: str) -> str:
    """Write the words of a text, which is given as SQL: folded, each behind a blank. It depends on the text alone."""
    return (
        f"' ' || regexp_replace(regexp_replace(replace(normalize(lower({text}), NFKD), 'ß', 'ss'),"
        r" '[\u0300-\u036f]', '', 'g'), '[^[:alnum:]]+', ' ', 'g')"
    )
