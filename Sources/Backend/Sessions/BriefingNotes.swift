internal import Store
internal import Wire

/// The content of a session's briefing for assistants.
struct BriefingNotes: Sendable {
    private(set) var clientContext: String?
    private(set) var voice: String?
    private(set) var language: String?
    private(set) var past: [PastSummary] = []
    private var lookups = 0

    init(clientContext: String?) {
        self.clientContext = clientContext
    }

    /// A store lookup in progress.
    struct Lookup: Sendable {
        fileprivate let number: Int
    }

    mutating func beginLookup() -> Lookup {
        lookups += 1
        return Lookup(number: lookups)
    }

    /// Of concurrent lookups the one started last wins: only it is certain to reflect all deletions.
    mutating func take(_ background: SessionBackground, of lookup: Lookup) {
        guard lookup.number == lookups else { return }
        clientContext = background.clientContext ?? clientContext
        (voice, language) = (background.voice, background.language)
        let summaries = background.past.map {
            PastSummary(title: $0.title, summary: $0.summaryText, endedAt: $0.endedAt.milliseconds / 1_000)
        }
        past = summaries.fitting()
    }

    /// Sets the client context unless it is already set.
    mutating func fill(_ clientContext: String?) {
        self.clientContext = self.clientContext ?? clientContext
    }
}
