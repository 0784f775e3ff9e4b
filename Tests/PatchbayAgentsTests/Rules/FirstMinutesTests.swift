import Testing
import Wire

@testable import PatchbayAgents

/// What visitors say in their first minutes.
struct FirstMinutesTests {
    @Test(arguments: [
        ("Count backwards.", "10, 9, 8, 7, 6, 5, 4, 3, 2, 1."),
        ("What day is tomorrow?", "Tomorrow is Saturday, November 28."),
        ("What time is it in Tokyo?", "In Tokyo, it is 11:05 in the evening."),
        ("Say that again.", "I have not said anything yet."),
        ("What did I ask first?", "This is the first thing you have said to me."),
        ("Seven times eight.", "7 times 8 is 56."),
        ("Set a timer for ten seconds.", "Your timer for 10 seconds starts now."),
        ("Tell me a joke.", "Why did the bicycle fall over? It was two tired."),
        ("Remind me to call Anna in five minutes.", "I'll remind you to call Anna in 5 minutes."),
        ("Speak slower.", "I can't change how fast I speak. Ask me to say that again, and I'll repeat it."),
        (
            "I want to talk to a person.",
            "There is nobody here but me, so I can't transfer you. Please contact the people who run this service."
        ),
        ("What time is it?", "It is 3:05 in the afternoon."),
        ("What's my name?", "You have not told me your name yet."),
        ("My name is Ben.", "Nice to meet you, Ben."),
        ("Count to twenty.", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20."),
        (
            "What can you do?",
            "I can tell you the time and the date, here and in many cities. I count, calculate and convert units. "
                + "I set timers and reminders, and tell jokes. I repeat what was said, and you can ask me to end the call."
        ),
        ("How are you?", "I'm fine, thank you. How can I help you?"),
        ("What's the weather like today?", "I can't look up the weather, because I work without the internet."),
        ("Play some music.", "I can't play music. I can only talk."),
        ("Thank you.", "You're welcome."),
        ("Hello.", "Hello. How can I help you?"),
        ("Goodbye.", "Goodbye, and have a nice day."),
    ]) func theFirstSentencesAreAnswered(_ said: String, _ answer: String) {
        #expect(RulesUser.answer(to: said) == answer)
    }

    @Test(arguments: [
        ("Um, can you please tell me what time it is?", "It is 3:05 in the afternoon."),
        ("what's twenty-five plus 17", "25 plus 17 is 42."),
        ("for times to", "4 times 2 is 8."),
        ("What is 7x8?", "7 times 8 is 56."),
        ("What's 20% of 50?", "20 percent of 50 is 10."),
        ("How much is one hundred and five divided by two?", "105 divided by 2 is 52.5."),
        ("what is ten divided by three", "10 divided by 3 is about 3.3333."),
        ("What is 5 divided by 0?", "That has no answer."),
        ("the square root of 81", "The square root of 81 is 9."),
        ("What is two plus three times four?", "2 plus 3 times 4 is 14."),
        ("three point five minus one", "3.5 minus 1 is 2.5."),
        ("Subtract 3 from 10.", "10 minus 3 is 7."),
        ("Count from 5 to 9, please.", "5, 6, 7, 8, 9."),
        ("could you count backwards from five", "5, 4, 3, 2, 1."),
        ("count to a thousand", "That would take too long. I count at most 100 numbers at a time."),
        ("Spell harbour.", "H, A, R, B, O, U, R."),
        ("Flip a coin.", "Heads."),
        ("Roll a die.", "1."),
        ("What day was yesterday?", "Yesterday was Thursday, November 26."),
        ("what day is it in three days", "In 3 days, it is Monday, November 30."),
        ("When is Christmas?", "Christmas is on Friday, December 25."),
        ("How many days until Christmas?", "There are 28 days until Christmas."),
        ("What's the date today?", "Today is Friday, November 27."),
        ("What year is it?", "It is 2026."),
        ("Which month is it?", "It is November."),
        ("what time is it in los angeles", "In Los Angeles, it is 6:05 in the morning."),
        ("What time is it in Auckland?", "In Auckland, it is 3:05 in the morning tomorrow."),
        (
            "What time is it in Springfield?",
            "I don't know the time in Springfield. I know that of about 60 large cities, such as Tokyo and New York."
        ),
        ("How many miles are ten kilometers?", "10 kilometers are about 6.21 miles."),
        ("What is 20 degrees Celsius in Fahrenheit?", "20 degrees Celsius is 68 degrees Fahrenheit."),
        ("convert 5 kg to pounds", "5 kilograms are about 11.02 pounds."),
        ("How many seconds are in an hour?", "1 hour is 3600 seconds."),
        ("Who made you?", "I am part of Patchbay, a media gateway for voice assistants. Its developers made me."),
        ("Who are you?", "I am Robin, a voice assistant. You can interrupt me at any time."),
        ("translate good morning into French", "I can't translate. I speak English only."),
        ("Louder, please.", "I can't change my volume. Please use that of your device."),
        ("Never mind.", "Okay."),
        ("Go forward ten meters.", "I can't go forward ten meters, because I am only a voice."),
        ("Repeat after me: the sea is calm.", "the sea is calm."),
        ("Say hello to my mother.", "hello to my mother."),
        ("Set a timer for half an hour.", "Your timer for 30 minutes starts now."),
        ("timer for an hour and a half", "Your timer for 1 hour and 30 minutes starts now."),
        ("set a timer for to minutes", "Your timer for 2 minutes starts now."),
        ("Wake me up at seven.", "Your alarm is set at 7 o'clock in the evening."),
        ("remind me at a quarter past four to feed my cat", "I'll remind you to feed your cat at 4:15 in the afternoon."),
        ("What's on your mind, parrot?", "I don't know that. I can tell the time in many cities, set timers, or spell words."),
        ("Open the door.", "I can't do that yet. I can tell the time in many cities, set timers, or spell words."),
        ("What day is next Monday?", "Next Monday is November 30."),
        ("what day is the 24th of december", "December 24 is a Thursday."),
        ("Is it Friday?", "Yes, today is Friday, November 27."),
        ("What time is it in five hours?", "In 5 hours, it is 8:05 in the evening."),
        ("I'm Thomas.", "Nice to meet you, Thomas."),
        ("What's one plus one equal to?", "1 plus 1 is 2."),
    ]) func whatElseVisitorsSayIsAnswered(_ said: String, _ answer: String) {
        #expect(RulesUser.answer(to: said) == answer)
    }

    @Test func anUnknownRequestNamesOtherAbilitiesEachTime() {
        let answers = Set((0..<12).map { RulesUser.answer(to: "Unless to be cold hearted is to be selfish.", chance: $0) })
        #expect(answers.count > 6 && answers.allSatisfy { $0.hasPrefix(Abilities.unableStart) && !$0.contains("selfish") })
    }

    @Test func goodbyeEndsTheCall() {
        #expect(RulesUser.parts(of: "Okay, goodbye then.") == [.text("Goodbye, and have a nice day."), .endCall])
    }

    @Test func aPersonIsReachedThroughATransferTool() throws {
        var user = RulesUser()
        user.conversation.tools = [AssistantTool(name: "transfer_call", url: "https://tools.example/transfer")]
        user.conversation.messages = [.user("Let me speak to someone, please.")]
        guard case .toolCall(let call)? = user.parts().first else {
            Issue.record("no tool was called")
            return
        }
        #expect(call.name == "transfer_call" && call.arguments.contains("someone"))
    }

    @Test func severalUtterancesInOneMessageAreAnsweredInOrder() {
        #expect(
            RulesUser.answer(to: "What time is it?\nAnd what day is it?") == "It is 3:05 in the afternoon. Today is Friday, November 27.")
        #expect(RulesUser.answer(to: "What is seven times\neight?") == "7 times 8 is 56.")
        #expect(RulesUser.answer(to: "Lorem ipsum.\nWhat time is it?") == "It is 3:05 in the afternoon.")
    }

    @Test func chanceDecidesGames() {
        #expect((0..<6).map { RulesUser.answer(to: "roll a die", chance: $0) } == ["1.", "2.", "3.", "4.", "5.", "6."])
        #expect(RulesUser.answer(to: "flip a coin please", chance: 1) == "Tails.")
        #expect(RulesUser.answer(to: "roll two dice", chance: 8) == "3 and 2. Together that is 5.")
        #expect(
            (0..<20).allSatisfy { (5...9).contains(Int(RulesUser.answer(to: "pick a number between 5 and 9", chance: $0).dropLast()) ?? 0) }
        )
    }
}
