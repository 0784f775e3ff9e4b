internal import PatchbayClient
internal import Wire

/// Turns that the assistant begins by itself: greetings, the onboarding, reminders, and a conversation that it continues.
extension VoicePipeline {
    func welcome(_ who: Identity, name: String) {
        attendance.join(who)
        responding.log.setName(name, of: who)
        if let limit = configuration.speech.limit { responding.room?.send(.languageLimited(limit)) }
        // A user who joined earlier with a microphone may have spoken already.
        let maySpeak = !arrival.isWelcomed && !listening.tracks(of: who).isEmpty
        guard arrival.firstWords == nil, !maySpeak else {
            arrival.firstWords = arrival.firstWords ?? FirstWords(name: name, at: now)
            return handle(.tick)
        }
        greet(name)
    }

    func greet(_ name: String) {
        var greeting = opening.takeGreeting(for: name)
        handle(.tick)
        if let notice = takeNotice() { greeting.append(notice) }
        guard !greeting.isEmpty, let turn = machine.beginOwnTurn(at: now) else { return }
        say(turn, greeting)
    }

    /// Greets the first user, once it is clear that there is nothing to answer.
    func greetAfterFirstWords() {
        if let first = arrival.firstWords {
            guard first.isOver(isTalking: machine.isUserSpeaking || !machine.pending.isEmpty, at: now) else { return }
            arrival.firstWords = nil
            greet(first.name)
        } else if !arrival.isWelcomed, arrival.isNoticeDue, let turn = machine.beginOwnTurn(at: now), let notice = takeNotice() {
            say(turn, [notice])
        }
    }

    /// The first user has said something: the response takes the place of the greeting. The notice about the language follows it.
    func answerFirstWords() {
        guard arrival.firstWords.take() != nil else { return }
        opening.omitGreeting()
        arrival.isNoticeDue = configuration.speech.notice != nil
        arrival.isWelcomed = !arrival.isNoticeDue
    }

    /// Returns the notice about the language, once; nil afterwards, and in a continued conversation.
    func takeNotice() -> String? {
        guard !arrival.isWelcomed else { return nil }
        arrival.isWelcomed = true
        return configuration.speech.notice
    }

    /// Begins the onboarding that was asked for, unless somebody speaks; then the next tick tries again.
    func beginOnboarding() {
        guard opening.needsOnboardingTurn, let turn = machine.beginOwnTurn(at: now) else { return }
        opening.beginOnboarding(turn)
        say(turn, opening.onboardingSentences)
    }

    /// Announces reminders that are due, unless somebody speaks or the call is on hold; then a later tick tries again.
    func announceReminders() {
        guard responding.schedule.isDue(at: now), !machine.isHeld, let turn = machine.beginOwnTurn(at: now) else { return }
        responding.announceReminders(in: turn, with: writer(turn))
    }

    /// Takes over a conversation, once what was said is known.
    func continueConversation() {
        guard past.continues(at: now) else { return }
        let (messages, unanswered) = past.resumed()
        for (message, heard) in messages {
            if let message { responding.log.append(message) } else { responding.log.append(assistant: heard) }
        }
        if let unanswered { handle(.text(unanswered.speaker, unanswered.text)) }
    }
}
