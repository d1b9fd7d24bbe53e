"""Near copies between two lists of texts: how many test texts a model may have seen in training."""

from typing import Any


def leakage(*, data: Any, references: Any, threshold: float = 20, short: str = "exclude") -> dict[str, Any]:
    """How many test texts have a near copy among training texts.

    Args:
        data: n test texts: a list, tuple, array, Series or dataset column of str.
        references: m training texts, likewise.
        threshold: an int is the largest character Levenshtein distance of a near copy; a float in [0, 1) the largest
            distance divided by the length of the longer text.
        short: "exclude" leaves out texts that are no longer than the threshold, blank or links alone, on both sides;
            "include" compares all.

    Returns:
        dict: "near_copy", the test texts with a near copy, and "near_copy_share" of all; "near_copy_masked" and
        "near_copy_masked_share", the same after links and mentions are masked, which then count towards no length;
        "nearest", a list [position in data,
        position in references, distance] for each test text with a near copy, of equally near ones the first;
        "n_data", "n_references", and "short_data", "short_references", how many of them are too short; "threshold".

    Raises:
        ValueError: an empty side, something that is not a text, or an option that is not valid.

    Source: Mu, Bontcheva and Aletras (2023), tables 6 and 7.
    """
    # Here, not above: whoever loads the module's card needs none of it.
    import numpy as np

    from temporal_rumors.audit.leaks import NEAR_COPY, NEAR_COPY_MASKED, Sample, find_leaks
    from temporal_rumors.audit.neighbours import is_short
    from temporal_rumors.audit.samples import texts_of

    test, train = Sample(texts_of(data, "data")), Sample(texts_of(references, "references"))
    result: dict[str, Any] = {}
    found = {leak.name: leak for leak in find_leaks(train, test, threshold, short)}
    for name in (NEAR_COPY, NEAR_COPY_MASKED):
        result |= {name: len(found[name].touched), f"{name}_share": len(found[name].touched) / len(test)}
    pairs = found[NEAR_COPY].pairs
    nearest = pairs[np.lexsort((pairs[:, 1], pairs[:, 2], pairs[:, 0]))]
    _, first = np.unique(nearest[:, 0], return_index=True)
    return {
        **result,
        "nearest": nearest[first].tolist(),
        "n_data": len(test),
        "n_references": len(train),
        "short_data": int(is_short(test.texts, threshold).sum()),
        "short_references": int(is_short(train.texts, threshold).sum()),
        "threshold": threshold.item() if isinstance(threshold, np.generic) else threshold,
    }
