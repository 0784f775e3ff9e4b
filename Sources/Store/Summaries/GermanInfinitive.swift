/// "Die Jacken einzupacken" as one writes it on a list: "Die Jacken einpacken".
enum GermanInfinitive {
    private static let prefixes = [
        "ein", "aus", "an", "ab", "auf", "mit", "vor", "nach", "her", "hin", "weg", "los", "um", "zurück", "vorbei",
    ]

    static func plain(_ text: String) -> String {
        var words = text.split(separator: " ").map(String.init)
        guard let last = words.last, last.hasSuffix("n") else { return text }
        if words.count > 2, words[words.count - 2] == "zu" { words.remove(at: words.count - 2) }
        for prefix in prefixes where last.hasPrefix(prefix + "zu") && last.count > prefix.count + 5 {
            words[words.count - 1] = prefix + last.dropFirst(prefix.count + 2)
            break
        }
        return words.joined(separator: " ")
    }
}
