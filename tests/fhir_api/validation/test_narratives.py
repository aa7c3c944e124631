"""The narrative may be formatted and must be harmless: no scripts, no events, nothing fetched. Source: R4 narrative.html."""

import pytest

from fhir_api.validation import validate

from .resources import patient

SPACE = 'xmlns="http://www.w3.org/1999/xhtml"'


def issues_of(div):
    return [
        (issue.expression, issue.details, issue.diagnostics)
        for issue in validate(patient(text={"status": "generated", "div": div}))
    ]


@pytest.mark.parametrize(
    "content",
    [
        "text",
        "\u00a0",
        "<p>&#160;</p>",
        "<p>A <b>bold</b> word, a <i>slanted</i> one and &lt;signs&gt; &#160; &amp;</p>",
        '<table border="1"><caption>a</caption><thead><tr><th colspan="2">b</th></tr></thead><tbody><tr><td>c</td></tr></tbody></table>',
        '<a href="http://example.org/a?b=c">a</a><a name="here">b</a><a href="#here">c</a><a href="Patient/1">d</a>',
        '<a href="mailto:a@example.org">a</a><a href="tel:+431">b</a>',
        '<img src="#picture" alt="a"/>',
        '<img src="Binary/1"/>',
        '<img src="data:image/png;base64,TWFu"/>',
        '<p style="color: red; margin-left: 1em" class="a" xml:lang="de" lang="de" dir="ltr">a</p>',
        "<ul><li>a</li></ul><ol><li>b</li></ol><dl><dt>c</dt><dd>d</dd></dl><hr/><pre>e</pre><blockquote>f</blockquote>",
        "<!-- a note -->a",
        "<![CDATA[a < b]]>",
    ],
)
def test_formatted_narrative_is_accepted(content):
    assert issues_of(f"<div {SPACE}>{content}</div>") == []


@pytest.mark.parametrize(
    ("div", "words"),
    [
        ("", None),
        ("just text", "well-formed"),
        ("<div>no namespace</div>", "namespace"),
        (f"<p {SPACE}>no div</p>", "must be a div"),
        (f"<div {SPACE}>open", "well-formed"),
        (f"<div {SPACE}><p>crossed</div></p>", "well-formed"),
        (f"<div {SPACE}>a</div><div {SPACE}>b</div>", "well-formed"),
        (f"<div {SPACE}>&nbsp;</div>", "well-formed"),
        (f"<!DOCTYPE div><div {SPACE}>a</div>", "document type"),
        (f'<!DOCTYPE d [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><div {SPACE}>&c;</div>', "document type"),
        (f'<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]><div {SPACE}>&a;</div>', "document type"),
        (f'<?xml version="1.0"?><div {SPACE}>a</div>', "instructions"),
        (f"<div {SPACE}><?php a ?></div>", "instructions"),
        *(
            (f"<div {SPACE}>a{element}</div>", "element that is not allowed")
            for element in (
                "<script>a</script>",
                "<style>a</style>",
                "<iframe/>",
                "<object/>",
                "<embed/>",
                "<form/>",
                "<input/>",
                "<link/>",
                "<meta/>",
                "<base/>",
                "<head/>",
                "<body/>",
                "<video/>",
                "<svg/>",
                "<SCRIPT>a</SCRIPT>",
                "<ins>a</ins>",
            )
        ),
        (f'<div {SPACE}>a<svg xmlns="http://www.w3.org/2000/svg"/></div>', "namespace"),
        *(
            (f"<div {SPACE}><p {attribute}>a</p></div>", "attribute that is not allowed")
            for attribute in ('onclick="a()"', 'onLoad="a()"', 'formaction="a"', 'srcset="a"', 'data-a="b"', 'ping="a"')
        ),
        (
            f'<div {SPACE} xmlns:x="http://www.w3.org/1999/xlink"><p x:href="a">a</p></div>',
            "attribute that is not allowed",
        ),
        *(
            (f'<div {SPACE}><a href="{address}">a</a></div>', "link")
            for address in (
                "javascript:a()",
                " JavaScript:a()",
                "java&#10;script:a()",
                "java&#9;script:a()",
                "&#13;javascript:a()",
                "vbscript:a",
                "data:text/html,a",
                "file:///etc/passwd",
            )
        ),
        *(
            (f'<div {SPACE}><img src="{address}"/></div>', "image")
            for address in (
                "http://example.org/a.png",
                "https://example.org/a.png",
                "//example.org/a.png",
                "\\\\example.org\\a.png",
                "javascript:a()",
                "data:image/svg+xml;base64,TWFu",
                "data:text/html,a",
            )
        ),
        *(
            (f'<div {SPACE}><p style="{style}">a</p></div>', "style")
            for style in (
                "background: url(http://example.org/a.png)",
                "background: URL(a)",
                "width: expression(a())",
                "@import 'a'",
                "b\\61 ckground: a",
                "behavior: a",
                "-moz-binding: a",
                "background: u/**/rl(a)",
            )
        ),
    ],
)
def test_narrative_that_is_active_or_broken_is_refused(div, words):
    ((expression, rule, diagnostics),) = issues_of(div)

    assert expression == "Patient.text.div"
    if words is not None:
        assert rule == "txt-1"
        assert words in diagnostics


@pytest.mark.parametrize("content", ["", " \n ", "<p/>", "<p> </p><br/>", "<img alt='a'/>", "<!-- a -->", "&#32;"])
def test_narrative_without_content_is_refused(content):
    assert issues_of(f"<div {SPACE}>{content}</div>") == [
        ("Patient.text.div", "txt-2", "txt-2: The narrative needs content beside white space.")
    ]


def test_narrative_of_a_contained_resource_is_read_too():
    contained = {
        "resourceType": "Organization",
        "id": "o",
        "name": "a",
        "text": {"status": "generated", "div": f"<div {SPACE}><script/>a</div>"},
    }
    resource = patient(contained=[contained], managingOrganization={"reference": "#o"})

    assert [issue.expression for issue in validate(resource)] == ["Patient.contained[0].text.div"]


def test_narrative_of_a_contained_resource_of_another_type_is_read_too():
    section = {"title": "a", "text": {"status": "generated", "div": f"<div {SPACE}><script/>a</div>"}}
    contained = {"resourceType": "Composition", "id": "c", "section": [section], "subject": {"reference": "#"}}

    issues = validate(patient(contained=[contained]))

    assert [(issue.expression, issue.details) for issue in issues] == [
        ("Patient.contained[0].section[0].text.div", "txt-1")
    ]


def test_narrative_needs_a_known_status():
    resource = patient(text={"status": "written", "div": f"<div {SPACE}>a</div>"})

    assert [(issue.expression, issue.code) for issue in validate(resource)] == [("Patient.text.status", "code-invalid")]
