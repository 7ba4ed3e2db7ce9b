"""A run as JUnit XML, which build servers show: one suite a system, one case a question."""

import re
from xml.etree import ElementTree

from modularsql.evaluation.cause import columns_said
from modularsql.evaluation.run import Run, Verdict

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(run: Run) -> str:
    """The XML text. A case fails where Multiset-EX is 0, and is skipped where it is undecided or
    the question is not counted."""
    suites = ElementTree.Element("testsuites", name="modularsql eval")
    for name, verdicts in run.verdicts.items():
        suite = ElementTree.SubElement(suites, "testsuite", name=_clean(name))
        failures = skipped = 0
        for verdict in verdicts:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=_clean(verdict.question.db),
                name=_clean(verdict.question.id),
                time=f"{(verdict.record.pred.ms or 0.0) / 1000:.3f}",
            )
            score = verdict.scores.get("multiset_ex")
            if not run.counted(verdict) or score is None:
                skipped += 1
                reason = verdict.record.cause or "undecided"
                ElementTree.SubElement(case, "skipped", message=_clean(reason))
            elif score != 1.0:
                failures += 1
                element = ElementTree.SubElement(
                    case, "failure", message=_clean(verdict.record.cause or "different")
                )
                element.text = _clean(_told(verdict))
        suite.set("tests", str(len(verdicts)))
        suite.set("failures", str(failures))
        suite.set("skipped", str(skipped))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _told(verdict: Verdict) -> str:
    lines = [
        f"question: {verdict.question.question}",
        f"gold: {verdict.question.gold}",
        f"predicted: {verdict.pred_sql}",
    ]
    if verdict.record.pred.error:
        lines.append(f"error: {verdict.record.pred.error}")
    if verdict.record.columns is not None:
        lines.append(f"columns: {columns_said(verdict.record.columns)}")
    return "\n".join(lines)


def _clean(text: str) -> str:
    """Without what XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
