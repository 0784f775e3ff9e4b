import Testing
import Wire

@testable import Engine

struct OutboxTests {
    private let alias = TrackAlias(1)

    /// Frames that contain only their number.
    private func frames(_ count: Int) -> [FrameRef] {
        var store = FrameStore(headroom: 0)
        return (0..<count).compactMap { _ in ([0] as [UInt8]).withUnsafeBytes { store.store($0) } }
    }

    private func taken(from outbox: inout Outbox) -> [(frame: FrameRef, afterDrop: Bool)] {
        var all: [(FrameRef, Bool)] = []
        while case .frame(let frame, let afterDrop, _) = outbox.next(allowsFrame: true) { all.append((frame, afterDrop)) }
        return all
    }

    @Test func slowSubscriberLosesTheOldestFrames() {
        var outbox = Outbox(ageMax: .milliseconds(200))
        let frames = frames(20)
        for (number, frame) in frames.enumerated() { outbox.append(frame, of: alias, at: .at(number * 20)) { _ in } }
        var dropped: [FrameRef] = []
        outbox.dropExpired(at: .at(400)) { dropped.append($0) }
        #expect(dropped == Array(frames[..<10]))
        let left = taken(from: &outbox)
        #expect(left.map(\.frame) == Array(frames[10...]))
    }

    @Test func frameAtExactlyTheAgeLimitIsKept() {
        var outbox = Outbox(ageMax: .milliseconds(200))
        outbox.append(frames(1)[0], of: alias, at: .at(0)) { _ in }
        outbox.dropExpired(at: .at(200)) { _ in Issue.record("dropped too early") }
        #expect(outbox.frameCount == 1)
    }

    @Test func onlyTheFirstFrameAfterADropIsFlagged() {
        var outbox = Outbox(ageMax: .milliseconds(200))
        let frames = frames(3)
        outbox.append(frames[0], of: alias, at: .at(0)) { _ in }
        outbox.append(frames[1], of: alias, at: .at(290)) { _ in }
        outbox.append(frames[2], of: alias, at: .at(300)) { _ in }
        outbox.dropExpired(at: .at(300)) { _ in }
        let left = taken(from: &outbox)
        #expect(left.map(\.afterDrop) == [true, false])
    }

    /// The shard's store was full: the gap is behind the queued frames, not before them.
    @Test func frameAfterARejectedFrameIsFlagged() {
        var outbox = Outbox(ageMax: .milliseconds(200))
        let frames = frames(3)
        outbox.append(frames[0], of: alias, at: .at(0)) { _ in }
        outbox.append(frames[1], of: alias, at: .at(20)) { _ in }
        outbox.recordDrop(of: alias)
        outbox.append(frames[2], of: alias, at: .at(60)) { _ in }
        let left = taken(from: &outbox)
        #expect(left.map(\.afterDrop) == [false, false, true])
    }

    @Test func rejectedFrameIsFlaggedEvenAfterTheQueueDrained() {
        var outbox = Outbox(ageMax: .milliseconds(200))
        outbox.append(frames(1)[0], of: alias, at: .at(0)) { _ in }
        outbox.recordDrop(of: alias)
        let left = taken(from: &outbox)
        #expect(left.map(\.afterDrop) == [false])
        let flags = (outbox.takeDiscontinuity(of: alias), outbox.takeDiscontinuity(of: alias))
        #expect(flags == (true, false))
    }

    @Test func dropOfOneTrackDoesNotFlagAnother() {
        var outbox = Outbox(ageMax: .milliseconds(200))
        let frames = frames(2)
        outbox.append(frames[0], of: TrackAlias(1), at: .at(0)) { _ in }
        outbox.append(frames[1], of: TrackAlias(2), at: .at(300)) { _ in }
        outbox.dropExpired(at: .at(300)) { _ in }
        let left = taken(from: &outbox)
        #expect(left.map(\.afterDrop) == [false])
        let flags = (outbox.takeDiscontinuity(of: TrackAlias(1)), outbox.takeDiscontinuity(of: TrackAlias(1)))
        #expect(flags == (true, false))
    }

    @Test func controlPrecedesFrames() throws {
        var outbox = Outbox()
        outbox.append(frames(1)[0], of: alias, at: .at(0)) { _ in }
        _ = outbox.append(control: [1])
        let order = [outbox.next(allowsFrame: true), outbox.next(allowsFrame: true)]
        #expect(order == [.control([1]), .frame(frames(1)[0], afterDrop: false, since: .at(0))])
    }

    @Test func controlIsSentWhileMediaIsBlocked() {
        var outbox = Outbox()
        outbox.append(frames(1)[0], of: alias, at: .at(0)) { _ in }
        _ = outbox.append(control: [1])
        let order = [outbox.next(allowsFrame: false), outbox.next(allowsFrame: false)]
        #expect(order == [.control([1]), nil])
        #expect(outbox.frameCount == 1)
    }

    @Test func controlBacklogIsLimitedTo256KiB() {
        var outbox = Outbox()
        let message = [UInt8](repeating: 0, count: 64 * 1_024)
        let isTaken = (0..<5).map { number in outbox.append(control: number < 4 ? message : [0]) }
        #expect(isTaken == [true, true, true, true, false])
    }

    @Test func fullOutboxDropsTheOldestFrame() {
        var outbox = Outbox(ageMax: .seconds(10), framesMax: 5)
        let frames = frames(8)
        var dropped: [FrameRef] = []
        for frame in frames { outbox.append(frame, of: alias, at: .at(0)) { dropped.append($0) } }
        #expect(dropped == Array(frames[..<3]))
        #expect(outbox.frameCount == 5)
        let left = taken(from: &outbox)
        #expect(left.first?.afterDrop == true)
    }
}

extension Instant {
    /// Milliseconds after the start.
    static func at(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: UInt64(milliseconds) * 1_000_000)
    }
}
