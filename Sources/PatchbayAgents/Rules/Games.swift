/// Coins, dice, random numbers, jokes, facts and a story. Chance is an argument (`Situation.chance`).
enum Games {
    static let jokes = [
        "Why did the bicycle fall over? It was two tired.", "What do you call a fish without eyes? A fsh.",
        "Why can't a nose be twelve inches long? Then it would be a foot.",
        "I told my computer a joke about UDP. I don't know if it got it.",
        "Parallel lines have so much in common. It's a shame that they'll never meet.",
        "What did the ocean say to the beach? Nothing. It just waved.", "Why did the gateway go to therapy? It had too many connections.",
    ]
    private static let facts = [
        "Honey does not spoil. Edible honey was found in tombs that are thousands of years old.",
        "An octopus has three hearts.", "A day on Venus is longer than a year on Venus.", "Bananas are berries, and strawberries are not.",
        "Light from the sun takes about eight minutes to reach us.",
    ]
    private static let story =
        "Once there was a lighthouse keeper who talked to the sea every night. One night the sea answered. "
        + "It said: your lamp is out. So he lit it, and a ship came home."

    static func respond(to utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        if utterance.has("flip", "toss", "heads or tails"), utterance.has("coin", "heads or tails", "tails") {
            return [.text(situation.chance % 2 == 0 ? "Heads." : "Tails.")]
        }
        if utterance.has("roll", "throw"), utterance.has("die", "dice", "dies", "dye") { return [.text(dice(utterance, situation.chance))] }
        if utterance.has("random number", "pick a number", "choose a number", "number between") {
            let bounds = NumberWords.all(in: utterance.words).filter { abs($0) < 1e9 }.map { Int($0) }
            let (low, high) = bounds.count > 1 ? (min(bounds[0], bounds[1]), max(bounds[0], bounds[1])) : (1, max(bounds.first ?? 10, 1))
            return [.text("\(low + Int(situation.chance % UInt64(high - low + 1))).")]
        }
        if utterance.has("rock paper scissors", "rock paper and scissors") {
            return [.text(situation.pick(["Rock.", "Paper.", "Scissors."]))]
        }
        let isAnother = utterance.has("another one", "one more", "tell me another", "another") && utterance.words.count <= 5
        let lastAnswer = situation.lastAnswer ?? ""
        if utterance.has("joke", "jokes", "something funny", "make me laugh") || (isAnother && jokes.contains(lastAnswer)) {
            return [.text(fresh(jokes, situation))]
        }
        if utterance.has("fact", "facts", "something interesting", "i am bored") || (isAnother && facts.contains(lastAnswer)) {
            return [.text(fresh(facts, situation))]
        }
        if utterance.has("story"), utterance.has("tell", "tell me", "read", "a story"), utterance.words.count <= 8 { return [.text(story)] }
        return nil
    }

    private static func dice(_ utterance: Utterance, _ chance: UInt64) -> String {
        let named = NumberWords.all(in: utterance.words).first ?? (utterance.has("dice") && !utterance.has("a dice") ? 2 : 1)
        let count = Int(min(max(named, 1), 6))
        var rest = chance
        let eyes = (0..<count).map { _ in
            defer { rest /= 6 }
            return Int(rest % 6) + 1
        }
        guard count > 1 else { return "\(eyes[0])." }
        return "\(eyes.dropLast().map { "\($0)" }.joined(separator: ", ")) and \(eyes[count - 1]). Together that is \(eyes.reduce(0, +))."
    }

    /// One that was not told in this conversation, if possible.
    private static func fresh(_ texts: [String], _ situation: Situation) -> String {
        let told = Set(situation.answers)
        let left = texts.filter { !told.contains($0) }
        return situation.pick(left.isEmpty ? texts : left)
    }
}
