/// The tasks that somebody took upon himself or gave in a conversation, as short items.
struct ActionItems {
    private struct Item {
        var text: String
        var stems: Set<String>
        var hasTime: Bool
    }

    private let vocabulary: Vocabulary
    private var items: [Item] = []
    /// Who was named last: whom "call him" means.
    private var lastNamed: String?

    /// Two items are the same if they share this part of the shorter one's words.
    private static let overlapMin = 0.6
    private static let wordsMax = 22
    /// What follows one of these belongs to what stands before it.
    private static let links: Set<String> = ["that", "when", "where", "what", "how", "dass", "wann", "wo", "que"]

    init(_ sentences: [Sentence], in vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        for sentence in sentences { look(at: sentence) }
    }

    /// In the order in which they came up.
    var texts: [String] {
        items.prefix(SummaryLimits.actionItemsMax).map { $0.text.shortened(to: SummaryLimits.actionItemCharactersMax) }
    }

    private mutating func look(at sentence: Sentence) {
        if let entry = ListEntry(in: sentence) {
            add(entry.text, about: entry.things, of: sentence.words[...])
            return remember(sentence)
        }
        var position = 0
        var hasFound = false
        while position < sentence.words.count {
            guard let cue = cue(at: position, in: sentence) else {
                position += 1
                continue
            }
            let task = task(from: position + cue.words.count, in: sentence)
            if isTask(task, after: cue) {
                add(text(of: task, after: cue, in: sentence), of: task)
                hasFound = true
                position = task.endIndex
            } else {
                position += cue.words.count
            }
        }
        if !hasFound, let task = command(in: sentence) { add(text(of: task, after: nil, in: sentence), of: task) }
        remember(sentence)
    }

    private static let placeLinks: Set<String> = ["in", "to", "from", "at", "on", "the", "of", "near"]

    private mutating func remember(_ sentence: Sentence) {
        for (index, word) in sentence.words.enumerated().dropFirst() where word.isCapitalized && word.text.count > 1 {
            let before = sentence.words[index - 1].lower
            let isName = !Self.placeLinks.contains(before) && word.text.dropFirst().allSatisfy(\.isLowercase)
            if isName, vocabulary.isContent(word), !vocabulary.timeWords.contains(word.lower) { lastNamed = word.text }
        }
    }

    /// "Call him tomorrow" with the name that was said last.
    private func named(_ text: String) -> String {
        guard let lastNamed else { return text }
        let words = Word.all(of: text)
        for (index, word) in words.enumerated() where word.lower == "him" || word.lower == "her" {
            let next = index + 1 < words.count ? words[index + 1] : nil
            // "Her keys" are another thing.
            let isAlone = next.map { vocabulary.timeWords.contains($0.lower) || !vocabulary.isContent($0) } ?? true
            if word.lower == "him" || isAlone { return text[..<word.range.lowerBound] + lastNamed + text[word.range.upperBound...] }
        }
        return text
    }
}

extension ActionItems {
    /// The longest that fits. Questions are no tasks, unless they ask somebody to do something.
    private func cue(at position: Int, in sentence: Sentence) -> ActionCue? {
        var best: ActionCue?
        for cue in vocabulary.actionCues where cue.words.count > best?.words.count ?? 0 {
            guard fits(cue.speaker, sentence.speaker), position + cue.words.count < sentence.words.count else { continue }
            guard zip(cue.words, sentence.words[position...]).allSatisfy({ $0 == $1.lower }) else { continue }
            if sentence.isQuestion && cue.strength == .duty { continue }
            best = cue
        }
        return best
    }

    private func fits(_ wanted: ActionCue.Speaker, _ speaker: Turn.Speaker) -> Bool {
        switch wanted {
        case .anyone: true
        case .user: speaker == .user
        case .assistant: speaker == .assistant
        }
    }

    /// The words up to the end of the clause.
    private func task(from start: Int, in sentence: Sentence) -> ArraySlice<Word> {
        let words = sentence.words
        var start = start
        while start < words.count, vocabulary.taskLeads.contains(words[start].lower) { start += 1 }
        var end = start
        while end < words.count {
            if end > start {
                if vocabulary.clauseEnds.contains(words[end].lower) { break }
                if !Self.links.contains(words[end - 1].lower), cue(at: end, in: sentence) != nil { break }
                let isAnd = words[end].lower == vocabulary.phrases.and
                if isAnd, end + 1 < words.count, vocabulary.subjects.contains(String(words[end + 1].head)) { break }
                if words[end].followsBreak, vocabulary.subjects.contains(String(words[end].head)) { break }
            }
            end += 1
        }
        while end - 1 > start, vocabulary.taskTails.contains(words[end - 1].lower) { end -= 1 }
        return words[min(start, words.count)..<end]
    }

    private func isTask(_ task: ArraySlice<Word>, after cue: ActionCue) -> Bool {
        guard 1...Self.wordsMax ~= task.count, let first = task.first, !vocabulary.noTasks.contains(first.lower) else { return false }
        // "Give me", "move me": it is done at once, and the answer tells more.
        if cue.strength == .wish, task.dropFirst().first?.lower == "me" { return false }
        let hasVerb =
            vocabulary.beginsTasksWithVerb
            ? vocabulary.taskVerbs.contains(first.lower) && task.count > 1 : task.contains { vocabulary.taskVerbs.contains($0.lower) }
        return switch cue.strength {
        case .certain: true
        case .duty: hasVerb || hasTime(task)
        case .wish: hasVerb
        }
    }

    private func hasTime(_ words: ArraySlice<Word>) -> Bool {
        words.contains { vocabulary.timeWords.contains($0.lower) || $0.isClock }
    }

    /// "Book a table for four": a sentence of the user that begins with a task's verb.
    private func command(in sentence: Sentence) -> ArraySlice<Word>? {
        guard sentence.speaker == .user, !sentence.isQuestion, vocabulary.beginsTasksWithVerb else { return nil }
        guard let start = sentence.words.firstIndex(where: { !vocabulary.openers.contains($0.lower) }) else { return nil }
        guard vocabulary.taskVerbs.contains(sentence.words[start].lower), start + 2 < sentence.words.count else { return nil }
        guard !["is", "was", "are", "has", "it", "me", "and", "of"].contains(sentence.words[start + 1].lower) else { return nil }
        let task = task(from: start, in: sentence)
        return 3...Self.wordsMax ~= task.count ? task : nil
    }

    private func text(of task: ArraySlice<Word>, after cue: ActionCue?, in sentence: Sentence) -> String {
        guard let first = task.first, let last = task.last else { return "" }
        let range = first.range.lowerBound..<last.range.upperBound
        let text = String(sentence.text[range])
        switch vocabulary.language {
        case "en":
            let told = Retelling.inSecondPerson(named(text), of: sentence.speaker)
            if let cue, sentence.speaker == .assistant, ["i'll", "i"].contains(cue.words[0]) { return "The assistant will " + told }
            return cue?.words.last == "forget" ? "Don't forget " + told : told.capitalizedFirst
        case "de": return GermanInfinitive.plain(text).capitalizedFirst
        default: return text.capitalizedFirst
        }
    }

    /// - Parameter things: by what two items are compared; the whole text if nil.
    private mutating func add(_ text: String, about things: String? = nil, of words: ArraySlice<Word>) {
        let vocabulary = vocabulary
        let said = Word.all(of: things ?? text)
        let stems = Set(said.filter { vocabulary.isContent($0) && !vocabulary.timeWords.contains($0.lower) }.map(\.stem))
        guard !stems.isEmpty else { return }
        let item = Item(text: text, stems: stems, hasTime: hasTime(words))
        let known = items.firstIndex { other in
            let shared = other.stems.intersection(stems).count
            return Double(shared) >= Self.overlapMin * Double(min(other.stems.count, stems.count))
        }
        guard let known else { return items.append(item) }
        // Said again, it counts if it tells when.
        if item.hasTime && !items[known].hasTime { items[known] = item }
    }
}
