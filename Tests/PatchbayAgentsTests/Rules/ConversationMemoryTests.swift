import Testing
import Wire

@testable import PatchbayAgents

/// Conversations of several turns with the rules.
struct ConversationMemoryTests {
    @Test func theLastAnswerIsSaidAgain() {
        var user = RulesUser()
        let answer = user.says("What is seven times eight?")
        #expect(user.says("Sorry, can you say that again?") == answer)
        #expect(user.says("Repeat that, please.") == answer)
        #expect(user.says("What did you say?") == answer)
    }

    @Test func onlyWhatWasHeardIsSaidAgain() {
        var user = RulesUser()
        user.conversation.messages = [.user("Count to twenty."), .assistant("1, 2, 3,"), .assistant(AssistantPhrases().question)]
        #expect(user.says("Say that again.") == "1, 2, 3,")
    }

    @Test func theFirstAndTheLastQuestionAreRemembered() {
        var user = RulesUser()
        user.says("What time is it in Oslo?")
        user.says("Flip a coin.")
        #expect(user.says("What did I ask first?") == "First, you said: What time is it in Oslo?")
        user.says("Thank you.")
        #expect(user.says("What did I just say?") == "Before that, you said: Thank you.")
    }

    @Test func namesAreRemembered() {
        var user = RulesUser()
        #expect(user.says("Hi, my name is anna.") == "Nice to meet you, Anna.")
        user.says("Tell me a joke.")
        #expect(user.says("Do you know my name?") == "Your name is Anna.")
        user.says("Actually, my name is Ben.")
        #expect(user.says("What's my name?") == "Your name is Ben.")
        user = RulesUser(conversation: Conversation(userName: "Carla"))
        #expect(user.says("Who am I?") == "Your name is Carla.")
    }

    @Test func noJokeIsToldTwice() {
        var user = RulesUser()
        let jokes = [user.says("Tell me a joke.")] + (1..<Games.jokes.count).map { _ in user.says("Another one.") }
        #expect(Set(jokes) == Set(Games.jokes))
    }

    @Test func yesAndNoAnswerAQuestion() {
        var user = RulesUser()
        user.says("Hello.")
        #expect(user.says("Yes.") == "Good. What can I do for you?")
        #expect(user.says("No, nothing.") == "All right. Say goodbye when you are done.")
        #expect(user.says("Yes.") == "All right.")
    }

    @Test func aMissingTimeIsAskedFor() {
        var user = RulesUser()
        #expect(user.says("Set a timer.") == "For how long?")
        #expect(user.says("Ten minutes.") == "Your timer for 10 minutes starts now.")
        #expect(user.says("Remind me to water the plants.") == "When shall I remind you?")
        #expect(user.says("At half past five.") == "I'll remind you to water the plants at 5:30 in the afternoon.")
        #expect(user.says("Set a timer.") == "For how long?")
        #expect(user.says("Never mind.") == "Okay.")
    }

    @Test func theSpeakersNameIsNoPartOfTheMessage() {
        var user = RulesUser(conversation: Conversation(userName: "Alice"))
        #expect(user.says("Alice: Repeat after me: good evening.") == "good evening.")
    }
}
