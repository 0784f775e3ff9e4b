import Backend
import Engine
import Gateway
import Wire

extension AuditEventQueue {
    /// The next room event that `choose` accepts; earlier ones are skipped.
    func next<T>(_ what: String, _ choose: (Room.AuditEvent) -> T?) async throws -> T {
        for await item in self {
            if case .event(let audit) = item, case .room(let event) = audit.event, let found = choose(event) { return found }
        }
        throw DidNotHappen(what: what)
    }

    func recordedFile() async throws -> RecordedFile {
        for await item in self {
            if case .event(let audit) = item, case .recorded(let file) = audit.event { return file }
        }
        throw DidNotHappen(what: "a recorded file")
    }

    /// The names of a room's events up to its end.
    func namesToTheEnd() async -> [String] {
        var names: [String] = []
        for await item in self {
            guard case .event(let audit) = item, case .room(let event) = audit.event else { continue }
            names.append(String(String(describing: event).prefix { $0 != "(" }))
            if names.last == "finished" { break }
        }
        return names
    }
}
