internal import Store
internal import Wire

/// What is remembered of a session for its assistants.
struct BriefingNotes: Sendable {
    private(set) var clientContext: String?
    private(set) var past: [PastSummary] = []
    private var lookups = 0

    init(clientContext: String?) {
        self.clientContext = clientContext
    }

    /// A look into the store that is under way.
    struct Lookup: Sendable {
        fileprivate let number: Int
    }

    mutating func beginLookup() -> Lookup {
        lookups += 1
        return Lookup(number: lookups)
    }

    /// Of lookups that overtook each other the one that began last counts: only that one has surely seen what is gone by now.
    mutating func take(_ background: SessionBackground, of lookup: Lookup) {
        guard lookup.number == lookups else { return }
        clientContext = background.clientContext ?? clientContext
        let summaries = background.past.map {
            PastSummary(title: $0.title, summary: $0.summaryText, endedAt: $0.endedAt.milliseconds / 1_000)
        }
        past = (try? summaries.fitting()) ?? []
    }

    /// Says what the app wanted to be known, unless it has said something before.
    mutating func fill(_ clientContext: String?) {
        self.clientContext = self.clientContext ?? clientContext
    }
}
