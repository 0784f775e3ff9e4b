/// "Add milk to my shopping list", or that it was done: an item by itself.
struct ListEntry {
    let text: String
    let things: String

    private static let verbs: Set<String> = [
        "add", "added", "adding", "put", "setz", "setze", "schreib", "schreibe", "füge", "pack", "habe", "gesetzt",
    ]
    private static let links: Set<String> = ["to", "on", "onto", "auf", "zu", "zur"]
    private static let skipped: Set<String> = ["please", "bitte", "noch", "also", "auch", "just", "now", "some", "ich", "the"]

    init?(in sentence: Sentence) {
        let words = sentence.words
        guard let list = words.lastIndex(where: { $0.lower.hasSuffix("list") || $0.lower.hasSuffix("liste") }) else { return nil }
        guard let link = words[..<list].lastIndex(where: { Self.links.contains($0.lower) }), list - link <= 4 else { return nil }
        guard let verb = words[..<link].lastIndex(where: { Self.verbs.contains($0.lower) }) else { return nil }
        var start = verb + 1
        while start < link, Self.skipped.contains(words[start].lower) { start += 1 }
        guard start < link, link + 1 < list || words[list].isCapitalized else { return nil }
        things = String(sentence.text[words[start].range.lowerBound..<words[link - 1].range.upperBound])
        guard !["it", "that", "them", "those", "es", "das"].contains(things.lowercased()) else { return nil }
        // Without "my", "your", "the" before it.
        let name = sentence.text[words[min(link + 2, list)].range.lowerBound..<words[list].range.upperBound]
        text = "\(String(name).capitalizedFirst): \(things)"
    }
}
