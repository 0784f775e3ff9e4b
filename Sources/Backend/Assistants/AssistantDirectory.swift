internal import Store
internal import Synchronization
package import Wire

/// The assistants of this gateway, by id. Thread-safe.
///
/// A definition in the store replaces the configuration's with the same id, which replaces the built-in `default`.
package final class AssistantDirectory: Sendable {
    /// Where a definition comes from.
    package enum Source: String, Sendable, CaseIterable {
        case builtIn = "built_in"
        case configuration, store
    }

    private struct State {
        var configured: [String: AssistantDefinition]
        var stored: [String: AssistantDefinition] = [:] {
            didSet { changes += 1 }
        }
        /// The number of changes of `stored`.
        var changes = 0

        func find(_ id: String) -> (definition: AssistantDefinition, source: Source)? {
            if let definition = stored[id] { return (definition, .store) }
            if let definition = configured[id] { return (definition, .configuration) }
            return id == AssistantDefinition.builtIn.id ? (.builtIn, .builtIn) : nil
        }
    }

    private let state: Mutex<State>

    /// - Parameter configured: the configuration's definitions, with unique ids.
    package init(configured: [AssistantDefinition] = []) {
        state = Mutex(State(configured: Self.byID(configured)))
    }

    package func definition(_ id: String) -> AssistantDefinition? {
        state.withLock { $0.find(id)?.definition }
    }

    /// All assistants, by id.
    package var all: [(definition: AssistantDefinition, source: Source)] {
        state.withLock { state in
            let ids = Set(state.stored.keys).union(state.configured.keys).union([AssistantDefinition.builtIn.id])
            return ids.sorted().compactMap(state.find)
        }
    }

    /// The ids of all assistants.
    package var ids: [String] { all.map(\.definition.id) }

    /// Replaces the configuration's definitions. Running jobs keep those that they got.
    ///
    /// - Parameter configured: with unique ids.
    package func configure(_ configured: [AssistantDefinition]) {
        state.withLock { $0.configured = Self.byID(configured) }
    }

    /// Replaces the store's definitions by those that it has now.
    func load(from store: Assistants) async throws(StoreError) {
        var isLoaded = false
        while !isLoaded {
            let changes = state.withLock { $0.changes }
            let stored = Self.byID(try await store.list())
            // A definition that was stored meanwhile may be missing.
            isLoaded = state.withLock { state in
                guard state.changes == changes else { return false }
                state.stored = stored
                return true
            }
        }
    }

    /// Call after the store has saved the definition.
    func put(_ definition: AssistantDefinition) {
        state.withLock { $0.stored[definition.id] = definition }
    }

    /// Call after the store has deleted the definition. The configuration's, if any, applies again.
    func remove(_ id: String) {
        state.withLock { $0.stored[id] = nil }
    }

    private static func byID(_ definitions: [AssistantDefinition]) -> [String: AssistantDefinition] {
        Dictionary(definitions.map { ($0.id, $0) }) { first, _ in first }
    }
}

extension AssistantDefinition {
    /// The assistant of a gateway without configuration.
    package static let builtIn = AssistantDefinition(
        id: "default", name: "Robin",
        instructions: """
            You are Robin, a friendly voice assistant. You hear the user and answer aloud, so keep answers to one to three short sentences \
            in plain words, without lists, links or symbols. If you do not know something or cannot do it, say so.
            """,
        greetings: openings.flatMap { opening in questions.map { opening + " " + $0 } })

    /// Twenty greetings made of nine sentences: workers cache the speech of each sentence, not of each greeting.
    private static let openings = [
        "Hello {name}, this is Robin.", "Hi {name}, good to hear from you.", "Welcome, {name}.", "Good to have you here, {name}.",
        "Hi {name}, Robin here.",
    ]
    private static let questions = ["How can I help you?", "What can I do for you?", "I'm listening.", "What is on your mind?"]
}
