/// Addresses, abbreviations, symbols, acronyms, and words of letters and digits.
extension SpokenReader {
    // MARK: Addresses

    /// A longer path is not spoken, in characters.
    private static let pathMax = 40
    private static let domains: Set<String> = [
        "com", "org", "net", "edu", "gov", "io", "dev", "app", "ai", "info", "biz", "de", "fr", "es", "it", "nl", "at", "ch", "eu", "uk",
        "us", "ca", "co", "me", "tv", "cloud", "tech", "shop", "example", "test",
    ]
    private static let files: Set<String> = [
        "swift", "py", "js", "ts", "md", "txt", "pdf", "json", "yaml", "yml", "html", "css", "csv", "png", "jpg", "zip", "sh", "exe", "doc",
        "docx", "xlsx", "mp3", "mp4", "wav", "toml", "xml", "log",
    ]

    /// E-mail and web addresses, and names of files.
    func address(_ core: String, _ grammar: any SpokenGrammar) -> Reading? {
        if let at = core.firstIndex(of: "@"), at != core.startIndex {
            let host = core[core.index(after: at)...]
            guard host.contains("."), isHost(host), core[..<at].allSatisfy({ $0.isLetter || $0.isNumber || "._-+".contains($0) }) else {
                return nil
            }
            return Reading(spoken: "\(parts(core[..<at], grammar)) \(grammar.vocabulary.names.at) \(spokenHost(host, grammar))")
        }
        var rest = core[...]
        let lowercased = core.prefix(8).lowercased()
        let scheme = ["https://", "http://"].first { lowercased.hasPrefix($0) }
        if let scheme { rest = rest.dropFirst(scheme.count) }
        let isWeb = scheme != nil || rest.prefix(4).lowercased() == "www."
        if rest.prefix(4).lowercased() == "www." { rest = rest.dropFirst(4) }
        guard rest.contains(".") || scheme != nil else { return nil }
        let host = rest.prefix { !"/?#:".contains($0) }
        guard isHost(host) else { return nil }
        let labels = host.split(separator: ".")
        let last = labels.last?.lowercased() ?? ""
        guard isWeb || labels.count > 1 && (Self.domains.contains(last) || Self.files.contains(last)),
            isWeb || host.contains(where: \.isLetter)
        else { return nil }
        // "end.It": a full stop without a space after it.
        guard isWeb || !(labels.last?.first?.isUppercase == true && labels[0].last?.isLowercase == true) else { return nil }
        var path = rest.dropFirst(host.count).prefix { !"?#".contains($0) }
        if path.hasPrefix(":") { path = path.drop { $0 != "/" } }
        while path.hasSuffix("/") { path.removeLast() }
        var spoken = spokenHost(host, grammar)
        if 1...Self.pathMax ~= path.count {
            for part in path.split(separator: "/") { spoken += " \(grammar.vocabulary.names.slash) \(parts(part, grammar))" }
        }
        return Reading(spoken: spoken)
    }

    private func isHost(_ host: Substring) -> Bool {
        host.count <= 100 && host.first.map { $0.isLetter || $0.isNumber } == true && host.last != "."
            && host.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" || $0 == "_" }
    }

    private func spokenHost(_ host: Substring, _ grammar: any SpokenGrammar) -> String {
        let labels = host.split(separator: ".")
        let isEnglish = grammar.vocabulary.decimal == "."
        return labels.enumerated().map { index, label in
            // "D E", but "dot co".
            let isSpelled =
                isEnglish && index == labels.count - 1 && label.count == 2 && index > 0 && !["co", "me", "us", "it"].contains(label)
            return isSpelled || label == "js" ? spelled(String(label).uppercased()) : parts(label, grammar)
        }.joined(separator: " \(grammar.vocabulary.names.dot) ")
    }

    /// The parts of a name: letters as they are, digits one by one from three on, and names of the characters between them.
    private func parts(_ text: Substring, _ grammar: any SpokenGrammar) -> String {
        let names = grammar.vocabulary.names
        var words: [String] = []
        for run in Self.runs(of: text) {
            switch run.first {
            case "."?: words.append(names.dot)
            case "-"?: words.append(names.dash)
            case "_"?: words.append("underscore")
            case "+"?: words.append(names.plus)
            case let first? where first.isDigit: words.append(digits(run, grammar))
            case let first? where first.isLetter: words.append(String(run))
            default: break
            }
        }
        return words.joined(separator: " ")
    }

    private func digits(_ run: Substring, _ grammar: any SpokenGrammar, isCode: Bool = false) -> String {
        let number = run.count <= 2 && !run.hasPrefix("0") && !isCode ? Int(run) : nil
        return number.map(grammar.cardinal) ?? grammar.digits(run)
    }

    /// Runs of letters, runs of digits, and single other characters.
    private static func runs(of text: Substring) -> [Substring] {
        var runs: [Substring] = []
        var rest = text
        while let first = rest.first {
            var run = rest.prefix { first.isDigit ? $0.isDigit : first.isLetter && $0.isLetter }
            if run.isEmpty { run = rest.prefix(1) }
            runs.append(run)
            rest = rest.dropFirst(run.count)
        }
        return runs
    }

    // MARK: Abbreviations

    /// Abbreviations that are also written without a full stop.
    private static let withoutStop: Set<String> = [
        "vs", "aka", "ASAP", "approx", "Mr", "Mrs", "Ms", "Dr", "etc", "Mme", "Mlle", "rdv", "usw", "bzw", "ca", "n°", "N°", "Prof",
    ]

    func abbreviation(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let core = words[index].core
        guard core.count <= 8 else { return nil }
        let hasStop = words[index].trail.hasPrefix(".")
        let known = grammar.vocabulary.abbreviations[core]
        let usesContext = hasStop || core == "Dr" || core == "St" && self.core(index + 1).first?.isUppercase == true
        let before = words[max(index - 2, 0)..<index].map(\.core)
        let contextual = usesContext ? grammar.abbreviation(core, before: before[...], after: self.core(index + 1)) : nil
        if let spoken = contextual ?? known {
            let isComplete = contextual != nil || hasStop || Self.withoutStop.contains(core) || core.contains { !$0.isLetter }
            guard isComplete else { return nil }
            let mayEndSentence = ["etc", "a.m", "p.m", "Inc", "Ltd", "usw"].contains(core)
            return Reading(spoken: spoken, trail: trail(ofAbbreviation: index, mayEndSentence: mayEndSentence))
        }
        // "z. B.", "p. ej.", "d. h.": two words.
        guard hasStop, words[index].trail == ".", words.indices.contains(index + 1), words[index + 1].trail.hasPrefix("."),
            let spoken = grammar.vocabulary.abbreviations["\(core).\(words[index + 1].core)"]
        else { return nil }
        return Reading(spoken: spoken, count: 2, trail: trail(ofAbbreviation: index + 1))
    }

    // MARK: Symbols

    /// Symbols that are words, and words with symbols in them.
    func symbols(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let core = words[index].core
        let names = grammar.vocabulary.names
        if core.count == 1, let symbol = core.first { return lonely(symbol, at: index, grammar) }
        if core == "->" || core == "=>" || core == "-->" { return Reading(spoken: grammar.vocabulary.symbols["→"] ?? "") }
        if core == "--" || core == "---" { return Reading(spoken: "", trail: ",") }
        if core.hasPrefix("#"), core.dropFirst().allSatisfy({ $0.isLetter || $0 == "_" }) {
            return Reading(spoken: names.hashtag + " " + core.dropFirst().replacing("_", with: " "))
        }
        if core.hasPrefix("@"), core.dropFirst().allSatisfy({ $0.isLetter || $0 == "_" || $0 == "." }) {
            return Reading(spoken: names.at + " " + core.dropFirst().replacing("_", with: " "))
        }
        if core.count <= 60, core.contains("_"), core.allSatisfy({ $0.isLetter || $0 == "_" }) {
            return Reading(spoken: core.split(separator: "_").joined(separator: " "))
        }
        return between(core, grammar).map { Reading(spoken: $0) }
    }

    private func lonely(_ symbol: Character, at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let isBetweenNumbers = core(index - 1).last?.isNumber == true && core(index + 1).first?.isNumber == true
        switch symbol {
        case "-", "–", "—", "|", "/":
            guard isBetweenNumbers else { return Reading(spoken: "", trail: symbol == "/" ? "" : ",") }
            let names = grammar.vocabulary.names
            return Reading(spoken: symbol == "-" ? names.minus : symbol == "/" ? names.slash : names.to)
        case "*", "~", "<", ">":
            return isBetweenNumbers ? grammar.vocabulary.symbols[symbol].map { Reading(spoken: $0) } : Reading(spoken: "")
        case "\\", "^", "_", "`": return Reading(spoken: "")
        default: return grammar.vocabulary.symbols[symbol].map { Reading(spoken: $0) }
        }
    }

    /// "R&D", "input/output", "A→B", "x=y".
    private func between(_ core: String, _ grammar: any SpokenGrammar) -> String? {
        guard core.count <= 60, let separator = core.first(where: { "&/=→⇒+".contains($0) }) else { return nil }
        let parts = core.split(separator: separator, omittingEmptySubsequences: false)
        guard 2...6 ~= parts.count, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isLetter || "-'’".contains($0) } }) else {
            return nil
        }
        let name = separator == "/" ? grammar.vocabulary.names.slash : grammar.vocabulary.symbols[separator] ?? ""
        return parts.map { acronym(String($0), grammar) ?? String($0) }.joined(separator: " \(name) ")
    }

    // MARK: Acronyms

    private static let spelledAcronyms: Set<String> = [
        "USA", "UK", "EU", "UN", "API", "URL", "CEO", "CTO", "CFO", "AI", "FAQ", "GPU", "CPU", "UI", "UX", "ATM", "ETA", "DIY", "VIP",
        "USB",
        "ISO", "OS", "IP", "IBM", "FBI", "CIA", "IQ", "ID", "EV", "AC", "SQL", "SDK", "AWS", "ISP", "IRS", "NYU", "UCLA",
        "BBC", "SUV", "GPA", "UFO", "LED", "EST", "UTC", "RSVP", "AKA", "DNA", "RNA", "ER", "FYI",
    ]

    /// Capital letters that are spelled: known ones, and up to five consonants. In English only; synthesizers of other languages differ.
    func acronym(_ core: String, _ grammar: any SpokenGrammar) -> String? {
        guard grammar.vocabulary.decimal == ".", 2...6 ~= core.count else { return nil }
        let isPlural = core.count > 2 && core.hasSuffix("s")
        let letters = isPlural ? String(core.dropLast()) : core
        guard isSpelled(letters) else { return nil }
        return spelled(letters) + (isPlural ? "s" : "")
    }

    private func isSpelled(_ letters: String) -> Bool {
        guard letters.utf8.allSatisfy({ UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }), 2...5 ~= letters.count else { return false }
        return Self.spelledAcronyms.contains(letters) || !letters.contains { "AEIOUY".contains($0) }
    }

    private func spelled(_ letters: String) -> String { letters.map(String.init).joined(separator: " ") }

    /// "B12", "LH454", "4K", "MP3", "COVID-19", "24-hour".
    func mixed(_ core: String, at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        guard core.count <= 30, core.contains(where: \.isDigit), core.allSatisfy({ $0.isLetter || $0.isDigit || "-_&/'’".contains($0) })
        else {
            return nil
        }
        let isCode = isCode(at: index, grammar)
        // "mp3" and the like are left to the synthesizer.
        guard isCode || core.first?.isDigit == true || core.contains(where: \.isUppercase) else { return nil }
        var words: [String] = []
        for run in Self.runs(of: core[...]) {
            guard let first = run.first else { continue }
            if first.isDigit {
                words.append(digits(run, grammar, isCode: isCode))
            } else if first.isLetter {
                let isUpper = run.allSatisfy(\.isUppercase)
                words.append(isUpper && (isSpelled(String(run)) || isCode || run.count <= 3) ? spelled(String(run)) : String(run))
            } else if first == "&", let name = grammar.vocabulary.symbols["&"] {
                words.append(name)
            } else if first == "/" {
                words.append(grammar.vocabulary.names.slash)
            }
        }
        return Reading(spoken: words.joined(separator: " "))
    }
}
