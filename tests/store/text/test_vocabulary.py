"""The words of each language come from one file, and another language is another file."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from store.text import words as vocabulary
from store.text.words import fold_text, normalize_text

ROOT = Path(__file__).parents[3]
FILES = sorted(Path(vocabulary.LANGUAGES_FOLDER).glob("*.toml"))
TABLES = [tomllib.loads(path.read_text(encoding="utf-8")) for path in FILES]
AS_TYPED = {("stop", "search"), ("stop", "language"), ("dates", "moment"), ("questions", "opens")}
AS_TYPED |= {("clauses", "hanging"), ("clauses", "continuing")}

READS = """
import sys
from store.text import words
words.LANGUAGES_FOLDER = sys.argv[1]
from store.text import dates, language, sentences, similarity
one, other = map(similarity.parse_sentence, ("Les factures partent lundi", "Les factures partent mardi"))
print(
    words.list_languages(),
    language.detect_language("Nous avons la base dans le dossier pour les tests"),
    sorted({"nous", "avec"} - words.load_stop_words("search")),
    similarity.compare_sentences(one, other, 0.9),
    "mardi" in words.load_places("weekdays"), language.NamedDate("en mars").months,
    similarity.is_contrary_question("avant le release", "apres le release"),
    similarity.may_be_same_question("qui valide la facture", "qui ne valide pas la facture"),
    list(sentences.find_sentence_spans("Elle voit Mme. Noor ici.")),
)
"""


def test_a_third_language_is_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "languages"
    shutil.copytree(vocabulary.LANGUAGES_FOLDER, folder)
    shutil.copy(Path(__file__).with_name("fr.toml"), folder)
    command = [sys.executable, "-c", READS, str(folder)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout.strip()
    assert told == "('en', 'es', 'fr') fr [] contradicts True {3} True False [(0, 24)]"


@pytest.mark.parametrize(("name", "table"), [(path.name, table) for path, table in zip(FILES, TABLES, strict=True)])
def test_a_language_has_the_tables_and_names_of_the_first(name: str, table: dict[str, dict[str, object]]) -> None:
    free = {"numbers"}  # whatever numbers it has words for
    assert {key: sorted(value) for key, value in table.items() if key not in free} == {
        key: sorted(value) for key, value in TABLES[0].items() if key not in free
    }, name


@pytest.mark.parametrize("table", TABLES, ids=[path.name for path in FILES])
def test_words_are_written_as_they_are_compared(table: dict[str, dict[str, object]]) -> None:
    """What is compared without capitals and accents is never found if it is written with them."""
    wrong = []
    for section, names in table.items():
        for name, value in names.items():
            words = [word for text in ([value] if isinstance(value, str) else value) for word in text.split()]
            as_typed = (section, name) in AS_TYPED
            wrong += [
                (section, name, word)
                for word in words
                if word != (word.lower() if as_typed else normalize_text(word, keep="ñ"))
            ]
    assert wrong == []


def test_a_name_that_no_file_has_is_an_error() -> None:
    with pytest.raises(KeyError):
        vocabulary.load_words("stop", "nothing")


@pytest.mark.parametrize(
    ("text", "folded", "normal", "kept"),
    [
        ("El  Año\tNUEVO", "el  ano\tnuevo", "el ano nuevo", "el año nuevo"),
        ("don’t", "don't", "don’t", "don’t"),
        ("Straße", "straße", "strasse", "strasse"),
        ("cafe\u0301", "cafe\u0301", "cafe", "cafe"),
        ("İstanbul", "istanbul", "istanbul", "istanbul"),
        ("plain ASCII", "plain ascii", "plain ascii", "plain ascii"),
    ],
)
def test_fold_keeps_the_length_and_normalize_need_not(text: str, folded: str, normal: str, kept: str) -> None:
    assert (fold_text(text), normalize_text(text), normalize_text(text, keep="ñ")) == (folded, normal, kept)
    assert len(fold_text(text)) == len(text)


@pytest.mark.parametrize("code", vocabulary.list_languages())
def test_a_table_is_read_as_the_whole_file_has_it(code: str) -> None:
    whole = tomllib.loads((Path(vocabulary.LANGUAGES_FOLDER) / f"{code}.toml").read_text("utf-8"))
    assert len(whole) > 5
    for table, held in whole.items():
        assert vocabulary._read_table(code, table) == held, table
    assert vocabulary._read_table(code, "of no file") == {}
