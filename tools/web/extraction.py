"""HTML -> title, date and text. Runs in a child process: a page can be made so that reading it takes minutes."""


def extracted(html: str) -> dict[str, str | None]:
    """Return `title`, `published` and `text`, the latter in Markdown and without menus if a main part is found."""
    import trafilatura

    document = trafilatura.bare_extraction(
        html,
        include_comments=False,
        include_formatting=True,
        with_metadata=True,
        date_extraction_params={"original_date": True, "extensive_search": False},
    )
    if document is None or isinstance(document, dict):
        return {"title": None, "published": None, "text": trafilatura.html2txt(html)}
    return {"title": document.title, "published": document.date, "text": document.text}
