import Testing

@testable import PatchbayAgents

struct MarkdownTextTests {
    private static let table: [(markdown: String, plain: String)] = [
        ("# Heading", "Heading."), ("### Is it? ###", "Is it?"), ("#nospace", "#nospace"), ("**Bold** and *italic*", "Bold and italic"),
        ("__Bold__ and _italic_ words", "Bold and italic words"), ("a **very**, *very* big", "a very, very big"),
        ("**Half of it. ", "Half of it."), ("~~gone~~ and `code`", "gone and code"), ("snake_case and 2*3", "snake_case and 2*3"),
        ("2 * 3", "2 * 3"), ("See [the docs](https://example.com/a_(b)).", "See the docs."),
        ("![A cat](cat.png) sleeps", "A cat sleeps"), ("[1] is not a link", "[1] is not a link"), ("an [open bracket", "an [open bracket"),
        ("<https://example.com>", "https://example.com"), ("one<br>two", "one two"), ("a < b > c", "a < b > c"), ("- Apples", "Apples."),
        ("* Pears, too!", "Pears, too!"), ("- [x] Done", "Done."), ("1. First", "1. First."), ("2) Second.", "2) Second."),
        ("> A quote", "A quote"), ("> > - deep", "deep."), ("---", ""), ("***", ""), ("```swift", ""), ("|---|:--|", ""),
        ("| Name | Age |", "Name, Age."), ("-5 degrees", "-5 degrees"), ("", ""), ("   ", ""),
        ("# Title\n\n- One\n- Two", "Title.|One.|Two."),
    ]

    @Test(arguments: table.indices) func marksAreRemoved(_ index: Int) {
        let (markdown, plain) = Self.table[index]
        #expect(MarkdownText.lines(of: markdown).joined(separator: "|") == plain)
    }

    @Test func spokenAndWrittenTextHaveNoMarks() {
        let text = SpokenText("- **Total:** [12 €](https://shop.example/cart)")
        #expect(text.written == "Total: 12 €." && text.text == "Total: twelve euros.")
    }

    @Test func theNumberOfAListItemIsSpoken() {
        #expect(SpokenText("1. Apples").text == "one. Apples.")
    }

    @Test func aLineOfMarksIsSilent() {
        #expect(SpokenText("```swift").isSilent && SpokenText("🎉 !").isSilent && !SpokenText("`5`").isSilent)
    }
}
