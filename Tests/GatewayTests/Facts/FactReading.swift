import Backend
import Engine
import Gateway
import Wire

extension AuditEventQueue {
    /// The next fact of a room that `choose` takes; those before it are passed over.
    func fact<T>(_ what: String, _ choose: (Room.AuditEvent) -> T?) async throws -> T {
        for await item in self {
            if case .fact(let fact) = item, case .room(let event) = fact.event, let found = choose(event) { return found }
        }
        throw DidNotHappen(what: what)
    }

    func recordedFile() async throws -> RecordedFile {
        for await item in self {
            if case .fact(let fact) = item, case .recorded(let file) = fact.event { return file }
        }
        throw DidNotHappen(what: "a recorded file")
    }

    /// The names of a room's facts up to its end.
    func wordsToTheEnd() async -> [String] {
        var words: [String] = []
        for await item in self {
            guard case .fact(let fact) = item, case .room(let event) = fact.event else { continue }
            words.append(String(String(describing: event).prefix { $0 != "(" }))
            if words.last == "finished" { break }
        }
        return words
    }
}
