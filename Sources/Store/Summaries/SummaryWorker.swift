package import Wire

/// Makes the summaries that are due (`JobKind.summary`), with the built-in summarizer in reserve.
///
/// When the configured model has failed `failuresBeforeProvisional` times, a summary by `ExtractiveSummarizer` is stored and marked provisional. The job
/// stays, with back-off, and the model's summary replaces the provisional one.
package struct SummaryWorker: Sendable {
    package static let failuresBeforeProvisional = 3
    /// A summary that takes longer is restarted.
    package static let leaseSpan = Duration.seconds(120)
    /// 1, 2, 4, … minutes, at most 6 hours.
    package static let backoff = Backoff(.exponential, unit: .seconds(60), delayMax: .seconds(6 * 3_600))

    private let store: Sessions
    private let summarizer: any Summarizer
    private let webhooks: @Sendable (Session, Summary) -> [OutgoingWebhook]

    /// - Parameter webhooks: enqueued with each stored summary.
    package init(
        store: Sessions, summarizer: any Summarizer,
        webhooks: @escaping @Sendable (Session, Summary) -> [OutgoingWebhook] = { _, _ in [] }
    ) {
        self.store = store
        self.summarizer = summarizer
        self.webhooks = webhooks
    }

    package enum Outcome: Sendable, Hashable {
        /// No summary is due.
        case idle
        /// A summary of this session was stored. `isFirst`: the session had none before.
        case stored(SessionID, of: UserID, isFirst: Bool)
        /// The model failed, or the session is gone.
        case skipped
    }

    /// Makes the summary that has been due the longest.
    ///
    /// - Parameter now: a clock, for making a summary takes time.
    /// - Throws: `StoreError`, `CancellationError`; not what the summarizer throws.
    package func runNext(now: @Sendable () -> WallTime) async throws -> Outcome {
        guard let job = try await store.lease(.summary, for: Self.leaseSpan, at: now()) else { return .idle }
        guard let user = job.userID, let session = SessionID(text: job.subject) else {
            try await store.finish(job)
            return .skipped
        }
        do {
            let record = try await store.record(of: session, of: user)
            let content: SummaryContent
            do {
                content = try await summarizer.summary(of: record.session, turns: record.turns)
            } catch let error where !(error is CancellationError) {
                let isStored = try await saveProvisional(record, job, now: now())
                let due = now() + Self.backoff.delay(afterFailures: job.attempts, random: 0)
                try await store.retry(job, due: due, reason: "\(type(of: error))", at: now())
                return isStored ? .stored(session, of: user, isFirst: record.summary == nil) : .skipped
            }
            try await save(content, record.session, job, now: now())
            return .stored(session, of: user, isFirst: record.summary == nil)
        } catch StoreError.notFound {
            // The session was deleted, or the job was reset or leased again, which `finish` leaves alone.
            try await store.finish(job)
            return .skipped
        }
    }

    private func saveProvisional(_ record: SessionRecord, _ job: Job, now: WallTime) async throws -> Bool {
        guard job.attempts >= Self.failuresBeforeProvisional else { return false }
        // One that is there is of this conversation, unless turns were revised since, and then the job's attempts started again.
        guard job.attempts == Self.failuresBeforeProvisional || record.summary?.isProvisional != true else { return false }
        try await save(
            ExtractiveSummarizer().content(of: record.turns, language: record.session.language), record.session, job, isProvisional: true,
            now: now)
        return true
    }

    private func save(_ content: SummaryContent, _ session: Session, _ job: Job, isProvisional: Bool = false, now: WallTime) async throws {
        try await store.saveSummary(
            content, for: session.id, of: session.userID, isProvisional: isProvisional, finishing: job,
            webhooks: { [webhooks] in webhooks(session, $0) }, at: now)
    }
}

/// Makes the summary of a conversation.
package protocol Summarizer: Sendable {
    /// - Parameter turns: oldest first.
    func summary(of session: Session, turns: [Turn]) async throws -> SummaryContent
}

/// Upper limits of every summary: it is shown on a phone.
enum SummaryLimits {
    static let titleWordsMax = 8
    static let titleCharactersMax = 60
    static let textCharactersMax = 700
    static let actionItemsMax = 8
    static let actionItemCharactersMax = 140
    static let tagsMax = 6
    static let tagCharactersMax = 40
    /// Sentences beyond this are ignored: about ten hours of talk.
    static let sentencesMax = 12_000
}

extension String {
    /// The beginning of the text, shortened to the limits of a title.
    var shortenedToTitle: String {
        shortened(toWords: SummaryLimits.titleWordsMax).shortened(to: SummaryLimits.titleCharactersMax)
    }

    /// Returns the text if it fits, otherwise its first words and an ellipsis.
    private func shortened(toWords wordsMax: Int) -> String {
        var words = 0
        var isInWord = false
        for index in indices {
            let continues = !self[index].isWhitespace
            if continues, !isInWord { words += 1 }
            if words > wordsMax { return self[..<index].withEllipsis }
            isInWord = continues
        }
        return self
    }

    /// The text itself if it fits, else its longest prefix of whole words, followed by an ellipsis.
    func shortened(to charactersMax: Int) -> String {
        guard count > charactersMax else { return self }
        var head = prefix(charactersMax - 1)
        // Scripts without spaces are cut between characters.
        if let space = head.lastIndex(of: " "), head.distance(from: head.startIndex, to: space) > charactersMax / 2 {
            head = head[..<space]
        }
        return head.withEllipsis
    }
}

extension Substring {
    fileprivate var withEllipsis: String {
        var text = self
        while let last = text.last, last == "," || last == ";" || last.isWhitespace { text.removeLast() }
        return text + "…"
    }
}
