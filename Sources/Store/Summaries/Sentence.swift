/// One sentence of a conversation: a substring of its turn, and the words by which sentences are compared.
struct Sentence {
    let text: String
    /// The index of its turn.
    let turn: Int
    let speaker: Turn.Speaker
    /// Content words in lower case; pairs of characters in scripts without spaces.
    let words: Set<String>
    /// Content words that may be tags, each with a factor: names count more, pairs of ideographs only if they are said again.
    let tagWords: [(word: String, factor: Double)]
    /// In words; two characters of a script without spaces count as one.
    let length: Int
    let cues: RequestCues

    /// It states a request or an obligation.
    var asks: Bool { !cues.isDisjoint(with: [.polite, .request]) || cues.contains(.obligation) && !isQuestion }

    var isQuestion: Bool { text.contains { "?？؟".contains($0) } }

    /// The part of its own words that are in `others`, 0…1.
    func overlap(with others: Set<String>) -> Double {
        words.isEmpty ? 0 : Double(words.intersection(others).count) / Double(words.count)
    }

    /// The sentences of all turns in order, at most `SummaryLimits.sentencesMax`.
    static func all(of turns: [Turn]) -> [Sentence] {
        let all = turns.enumerated().lazy.flatMap { index, turn in split(turn.text).map { ($0, index, turn.speaker) } }
        return all.prefix(SummaryLimits.sentencesMax).map { Sentence($0, turn: $1, speaker: $2) }
    }

    init(_ text: String, turn: Int, speaker: Turn.Speaker) {
        let runs = text.replacing("’", with: "'").split { !$0.isLetter && !$0.isNumber && $0 != "'" }
        let lowercased = runs.map { $0.lowercased() }
        var (words, tagWords, length): (Set<String>, [(String, Double)], Int) = ([], [], 0)
        for (index, word) in lowercased.enumerated() {
            if word.contains(where: \.isOfSpacelessScript) {
                let characters = Array(word)
                length += (characters.count + 1) / 2
                let pairs = characters.indices.dropLast().map { String(characters[$0...$0 + 1]) }
                words.formUnion(pairs)
                tagWords += pairs.filter { $0.allSatisfy(\.isIdeographic) }.map { ($0, characters.count <= 4 ? 1 : 0.6) }
            } else {
                length += 1
                guard !Self.stopWords.contains(word), word.count > 2 || word.contains(where: \.isNumber) else { continue }
                words.insert(word)
                guard word.count > 3, word.contains(where: \.isLetter) else { continue }
                tagWords.append((word, index > 0 && runs[index].first?.isUppercase == true ? 1.5 : 1))
            }
        }
        cues = RequestCues.all(in: lowercased)
        (self.text, self.turn, self.speaker, self.words, self.tagWords, self.length) = (text, turn, speaker, words, tagWords, length)
    }

    private static let terminators: Set<Character> = [".", "!", "?", "…", "؟", "。", "！", "？", "।", "۔", "\n", "\r\n"]
    private static let closers: Set<Character> = ["\"", "'", "”", "’", ")", "»", "“", "」"]
    private static let abbreviations = Set("mr mrs ms dr prof st vs no bzw ca nr str sr sra".split(separator: " ").map(String.init))
    /// Frequent words that make bad tags. In other languages such words only weigh less, because they are in many sentences.
    private static let stopWords = Set(
        """
        hello the and you for that this with have has had are was were not but what when where which who how why can could will would should about from \
        there here just some any all out your our their them they she her his him its it's i'm i've i'll i'd don't didn't isn't that's what's \
        der die das und ist ich nicht ein eine einen mit für auf dem den des von sie wir ihr ihm ihn was wie wann wer dass aber oder auch noch nur \
        wenn als bei aus nach zum zur vom bis hat habe haben sind war bin mir mich dir dich uns kann muss wird soll bitte danke gut gerne sehr hier \
        les des une est que qui dans pour pas avec sur vous nous votre mon mais comme bien merci bonjour las los una por con del como más esta eso
        """.split(separator: " ").map(String.init))

    /// Splits at sentence terminators, but not within numbers, times and abbreviations.
    static func split(_ text: String) -> [String] {
        let characters = Array(text)
        var sentences: [String] = []
        var start = 0
        for index in characters.indices where endsSentence(characters, at: index, from: start) {
            var part = characters[start...index].drop(while: \.isWhitespace)
            while part.last?.isWhitespace == true { part.removeLast() }
            if part.contains(where: { $0.isLetter || $0.isNumber }) { sentences.append(String(part)) }
            start = index + 1
        }
        return sentences
    }

    private static func endsSentence(_ characters: [Character], at index: Int, from start: Int) -> Bool {
        guard index + 1 < characters.count else { return true }
        let next = characters[index + 1]
        let end = characters[start...index].lastIndex { !closers.contains($0) } ?? index
        guard terminators.contains(characters[end]), !terminators.contains(next), !closers.contains(next) else { return false }
        // Full-width and Indic terminators and line ends need no space after them.
        guard ".!?…؟".contains(characters[end]) else { return true }
        guard next.isWhitespace else { return false }
        guard characters[end] == "." else { return true }
        // "6 p.m. on Friday", "am 3. Mai": the sentence goes on.
        if characters[(index + 1)...].first(where: { !$0.isWhitespace })?.isLowercase == true { return false }
        let word = String(characters[start..<end].split { $0.isWhitespace || $0 == "(" }.last ?? [])
        if word.count == 1, word != "I", word.first?.isUppercase == true { return false }
        if word.count <= 2, word.allSatisfy(\.isNumber) { return characters[start..<end].count(where: \.isWhitespace) < 2 }
        return !abbreviations.contains(word.lowercased())
    }
}

extension Character {
    /// Scripts that are written without spaces between words: Thai, Lao, Myanmar, Khmer, Han, kana.
    var isOfSpacelessScript: Bool {
        switch unicodeScalars.first?.value ?? 0 {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x3400...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF: true
        default: false
        }
    }

    /// Ideographs and katakana.
    var isIdeographic: Bool { isOfSpacelessScript && (unicodeScalars.first?.value ?? 0) >= 0x30A0 }
}

/// Phrases by which requests, promises, completions and withdrawals are recognized. They only select sentences; nothing is built from them.
struct RequestCues: OptionSet, Sendable {
    let rawValue: UInt8

    static let request = RequestCues(rawValue: 1)
    /// In a question ("What do I need to buy?") it asks for an answer only.
    static let obligation = RequestCues(rawValue: 2)
    /// A request in the form of a question, which an answer settles.
    static let polite = RequestCues(rawValue: 4)
    static let promise = RequestCues(rawValue: 8)
    static let completion = RequestCues(rawValue: 16)
    static let withdrawal = RequestCues(rawValue: 32)

    private static let list: [(RequestCues, String)] = Array(
        zip(
            [.request, .obligation, .polite, .promise, .completion, .withdrawal],
            """
            remind me|don't forget|don't let me forget|remember to|make sure|please|add|put|send|order|call|schedule|erinnere|\
            erinner|vergiss nicht|bitte|denk daran|rappelle moi|rappelez moi|n'oublie|n'oubliez|s'il te plaît|s'il vous plaît|\
            recuérdame|no olvides|por favor|ricordami|per favore|lembre|herinner|vergeet niet|przypomnij|proszę|напомни|\
            напомните|не забудь|не забудьте|пожалуйста|من فضلك|कृपया|याद दिलाना|请|提醒我|帮我|记得|ください|お願い|忘れないで|해줘|해 줘|해주세요|해 주세요|알려줘|\
            เตือนฉัน|กรุณา|ช่วย
            need to|have to|must|should|muss|müssen|sollte|sollten|je dois|nous devons|il faut|tengo que|tenemos que|hay que|debo|\
            devo|preciso|moet|moeten|muszę|trzeba|нужно|надо|должен|должна|يجب|चाहिए|必须|需要|なければ|해야
            can you|could you|would you|will you|kannst du|können sie|könntest du|könnten sie|peux tu|pouvez vous|pourriez vous|\
            puedes|podrías|puoi|potresti|você pode|kun je|możesz|можешь|можете|هل يمكنك|क्या आप|你能|您能|もらえますか|수 있어|수 있나요
            i'll|i will|we'll|we will|ich werde|ich erinnere|ich schicke|je vais|lo haré|voy a|lo farò|vou|ik zal|zrobię|сделаю|\
            我会|将|します|할게
            done|i've|i have|we've|already|all set|is booked|is set|erledigt|habe ich|ich habe|wurde|bereits|c'est fait|j'ai|déjà|\
            hecho|he añadido|ya está|ya he|fatto|feito|gedaan|ik heb|gotowe|готово|сделано|уже|تم|हो गया|已|好了|完成|しました|했어|했습니다|\
            เรียบร้อย
            never mind|nevermind|forget it|forget about|forget that|scratch that|cancel that|don't bother|no need|don't need to|\
            not necessary|leave it|vergiss es|vergiss das|doch nicht|nicht mehr nötig|nicht nötig|lass es|laisse tomber|oublie ça|\
            pas la peine|olvídalo|no hace falta|déjalo|lascia stare|esquece|laat maar|nieważne|не надо|забудь|неважно|لا داعي|\
            रहने दो|算了|不用了|取消|やめて|됐어|취소
            """.split(separator: "\n").map(String.init)))
    /// By first word. Phrases of scripts without spaces, which may be anywhere in a word, have the key "".
    private static let phrases: [String: [(cue: RequestCues, words: [String])]] = list.reduce(into: [:]) { phrases, entry in
        for phrase in entry.1.split(separator: "|") {
            let words = phrase.split(separator: " ").map(String.init)
            phrases[phrase.contains(where: \.isOfSpacelessScript) ? "" : words[0], default: []].append((entry.0, words))
        }
    }

    /// - Parameter words: in lower case.
    static func all(in words: [String]) -> RequestCues {
        var cues: RequestCues = []
        for (index, word) in words.enumerated() {
            if word.contains(where: \.isOfSpacelessScript) {
                for phrase in Self.phrases[""] ?? [] where word.contains(phrase.words[0]) { cues.insert(phrase.cue) }
            } else {
                for phrase in Self.phrases[word] ?? [] where words[index...].starts(with: phrase.words) { cues.insert(phrase.cue) }
            }
        }
        return cues
    }
}
