import Wire

@testable import Engine

/// Checks that audit events and taps are balanced: joins with departures, published with unpublished tracks.
struct AuditEventChecker {
    private(set) var problems: [String] = []
    private(set) var count = 0
    private var present: Set<ParticipantSID> = []
    private var published: Set<TrackSID> = []
    private var tapped: Set<TrackSID> = []
    private var revisions: [String: Int] = [:]
    private var isOpen = false

    mutating func take(_ effect: Room.Effect) {
        switch effect {
        case .record(let event, let room):
            count += 1
            expect(isOpen == (event != .started), "\(event) at the wrong time")
            take(event, room)
        case .tap(let order, _): tapped.insert(order.track.sid)
        case .untap(let track, _): expect(tapped.remove(track.sid) != nil, "\(track.sid) was not tapped")
        default: break
        }
    }

    private mutating func take(_ event: Room.AuditEvent, _ room: Room.Snapshot) {
        switch event {
        case .started: isOpen = true
        case .finished: isOpen = false
        case .joined(let info, _): expect(present.insert(info.sid).inserted, "\(info.identity) joins twice")
        case .left(let info, _, _): expect(present.remove(info.sid) != nil, "\(info.identity) leaves without having joined")
        case .aborted(let info, _, _): expect(!present.contains(info.sid), "\(info.identity) was in")
        case .published(let track, let publisher):
            expect(present.contains(publisher), "nobody publishes")
            expect(published.insert(track.sid).inserted, "\(track.sid) is published twice")
            expect(tapped.contains(track.sid), "\(track.sid) is not tapped")
        case .unpublished(let track, _):
            expect(published.remove(track.sid) != nil, "\(track.sid) was not published")
            expect(!tapped.contains(track.sid), "\(track.sid) is still tapped")
        case .transcribed(let said):
            expect(said.segment.final || said.segment.spoken == .interrupted, "\(said.segment) is not final")
            expect(said.segment.rev > revisions[said.segment.id] ?? -1, "\(said.segment.id) is recorded twice")
            expect(said.began <= said.ended, "\(said) ends before it begins")
            revisions[said.segment.id] = said.segment.rev
        case .typed(let typed): expect(!typed.text.isEmpty, "nothing was typed")
        case .held, .recordingStarted, .recordingStopped: break
        }
    }

    mutating func close() {
        let rest = "\(present) \(published) \(tapped)"
        expect(!isOpen && present.isEmpty && published.isEmpty && tapped.isEmpty, "state remains: \(rest)")
    }

    private mutating func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
        if !condition { problems.append(problem()) }
    }
}
