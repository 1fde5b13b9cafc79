"""Tables without borders are read row by row, lists beside each other one after the other."""

from videmus.model import TextLine
from videmus.perceive.reading_order import page_text

HEIGHT = 0.05
LETTER = 0.012


def line(left: float, top: float, text: str) -> TextLine:
    return TextLine(text, (left, top, left + LETTER * len(text), top + HEIGHT), 0.99)


def beside(*columns: tuple[float, list[tuple[float, str]]]) -> list[str]:
    """The page's text with columns of (top, text), each at its left edge, under a title."""
    page = [TextLine("From low water to high water", (0.05, 0.05, 0.7, 0.14), 0.99)]
    page += [line(left, top, text) for left, cells in columns for top, text in cells]
    return page_text(page[::-1]).splitlines()[1:]


def down(*texts: str, top: float = 0.25, pitch: float = 0.1) -> list[tuple[float, str]]:
    return [(top + pitch * i, text) for i, text in enumerate(texts)]


class TestTables:
    def test_values_belong_to_the_names_that_they_stand_beside(self) -> None:
        names = down("Bay of Fundy, Canada", "Bristol Channel, Britain", "Naples, Italy")
        assert beside((0.08, names), (0.7, down("16 m", "14 m", "0.4 m"))) == [
            "Bay of Fundy, Canada | 16 m",
            "Bristol Channel, Britain | 14 m",
            "Naples, Italy | 0.4 m",
        ]

    def test_negative_numbers_and_decimals_are_no_points_of_a_list(self) -> None:
        values = down("-3 °C", "– 0.5 °C", "2.5 °C")
        assert beside((0.08, down("Oslo", "Vienna", "Rome")), (0.6, values))[0] == "Oslo | -3 °C"

    def test_words_may_name_rows_whose_cells_are_words(self) -> None:
        rows = beside((0.08, down("France", "Norway", "Peru")), (0.5, down("Paris", "Oslo", "Lima")))
        assert rows == ["France | Paris", "Norway | Oslo", "Peru | Lima"]

    def test_a_short_name_may_have_a_long_definition(self) -> None:
        meanings = down(
            "what the Moon does to the sea every day", "the highest one after a full moon", "the lowest one in between"
        )
        rows = beside((0.08, down("Tide", "Spring tide", "Neap tide")), (0.45, meanings))
        assert rows[1] == "Spring tide | the highest one after a full moon"

    def test_three_columns_are_a_table_also_where_a_cell_is_missing(self) -> None:
        rows = beside(
            (0.05, down("Line", "Bus", "Train", "Ferry")),
            (0.4, down("Peak", "5 min", "10 min", "20 min")),
            (0.7, [*down("Night", "20 min"), (0.55, "60 min")]),
        )
        assert rows == ["Line | Peak | Night", "Bus | 5 min | 20 min", "Train | 10 min", "Ferry | 20 min | 60 min"]

    def test_points_of_a_list_may_have_values(self) -> None:
        rows = beside((0.08, down("• recall", "• precision", "• speed")), (0.6, down("0.98", "0.91", "1.4 s")))
        assert rows == ["• recall | 0.98", "• precision | 0.91", "• speed | 1.4 s"]

    def test_a_row_waits_for_its_longest_cell(self) -> None:
        names = [(0.25, "Bus"), (0.4, "Express coach"), (0.48, "Night line")]
        texts = [
            (0.25, "250 m, but both near side and far"),
            (0.3, "side stops where lines cross"),
            (0.4, "250 m in the local area"),
            (0.48, "500 m on the whole route"),
        ]
        assert beside((0.08, names), (0.45, texts)) == [
            "Bus | 250 m, but both near side and far side stops where lines cross",
            "Express coach | 250 m in the local area",
            "Night line | 500 m on the whole route",
        ]

    def test_cells_of_different_heights_may_have_their_middles_level(self) -> None:
        causes = [
            (0.25, "Constraints,"),
            (0.3, "demand"),
            (0.42, "Travel times"),
            (0.54, "Rules of the"),
            (0.59, "union"),
        ]
        effects = [(0.275, "Routes"), (0.42, "Vehicles"), (0.565, "Crews")]
        assert beside((0.08, causes), (0.5, effects)) == [
            "Constraints, demand | Routes",
            "Travel times | Vehicles",
            "Rules of the union | Crews",
        ]

    def test_answers_to_numbered_questions_stand_beside_their_last_lines(self) -> None:
        questions = [
            (0.25, "1. Opposites attract"),
            (0.31, "2. The more people there are, the more"),
            (0.36, "likely is help"),
        ]
        questions += [(0.42, "3. Hypnosis is nonsense"), (0.48, "4. Ulcers come from stress")]
        rows = beside((0.08, questions), (0.8, [(0.25, "No"), (0.36, "No"), (0.42, "Yes"), (0.48, "No")]))
        assert rows == [
            "1. Opposites attract | No",
            "2. The more people there are, the more likely is help | No",
            "3. Hypnosis is nonsense | Yes",
            "4. Ulcers come from stress | No",
        ]

    def test_cells_close_to_each_other_are_cells_where_those_above_are(self) -> None:
        rows = beside(
            (0.08, down("Psoriasis", "Systemic lupus erythematosus", "Diabetes")), (0.43, down("700", "34", "227"))
        )
        assert rows[1] == "Systemic lupus erythematosus | 34"

    def test_a_low_letter_stands_on_the_line_of_the_number_before_it(self) -> None:
        page = [
            TextLine("Boston, United States", (0.077, 0.535, 0.378, 0.602), 0.99),
            TextLine("m", (0.721, 0.543, 0.768, 0.6), 0.99),  # the detector's boxes overlap
            TextLine("3", (0.699, 0.535, 0.735, 0.6), 0.99),
        ]
        assert page_text(page) == "Boston, United States | 3 m"


class TestLists:
    def one_after_the_other(self, left: list[tuple[float, str]], right: list[tuple[float, str]]) -> bool:
        text = "\n".join(beside((0.05, left), (0.55, right)))
        first, second = (" ".join(t for _, t in cells) for cells in (left, right))
        return text.replace("\n", " ") == f"{first} {second}" and "|" not in text

    def test_lists_with_bullets_that_stand_level(self) -> None:
        assert self.one_after_the_other(down("• fast", "• cheap", "• small"), down("• slow", "• dear", "• large"))

    def test_points_of_some_words_without_bullets(self) -> None:
        left = down("Works without any network", "Runs on old machines", "Costs nothing at all")
        right = down("Needs a good microphone", "Reads no handwriting yet", "Knows English words best")
        assert self.one_after_the_other(left, right)

    def test_lists_of_different_lengths(self) -> None:
        left = down("Reading", "Writing", "Sums", "Singing")
        assert self.one_after_the_other(left, down("Running", "Swimming"))

    def test_lists_of_different_pitch(self) -> None:
        left = down("Genotyping", "Sequencing", "Epigenome")
        assert self.one_after_the_other(left, down("Cytometry", "Cytokines", "Antibodies", pitch=0.08))

    def test_paragraphs_with_wrapped_lines(self) -> None:
        left = down("The left column tells a story that", "goes on below itself, and then it", "ends here", pitch=0.06)
        right = down("The right one is about something", "else, but it has just as many lines", "as that", pitch=0.06)
        assert self.one_after_the_other(left, right)

    def test_points_of_two_lines_each(self) -> None:
        left = [
            (0.25, "Works without a network or"),
            (0.3, "a key"),
            (0.4, "Runs on old machines, and"),
            (0.45, "on new ones"),
        ]
        right = [
            (0.25, "Needs a good microphone in"),
            (0.3, "the room"),
            (0.4, "Reads no handwriting, for"),
            (0.45, "now"),
        ]
        assert self.one_after_the_other(left, right)
