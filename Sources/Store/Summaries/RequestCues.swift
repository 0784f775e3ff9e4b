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
