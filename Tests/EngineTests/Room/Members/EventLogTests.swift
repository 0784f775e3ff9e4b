import Testing
import Wire

@testable import Engine

struct EventLogTests {
    private var log = EventLog()
    private var now = Instant(nanoseconds: 1_000_000_000)

    private mutating func append(_ count: Int, bytes: Int = 10) {
        for _ in 0..<count {
            let text = String(repeating: "x", count: bytes)
            _ = log.append(EncodedEvent(.text(id: "t", from: Identity(text: "ann"), topic: "", text: text)), at: now)
        }
    }

    @Test mutating func missedEventsAreReplayedUnderTheirNumbers() throws {
        append(10)
        let missed = try #require(log.events(after: 7))
        #expect(missed.map(\.seq) == [8, 9, 10])
        #expect(log.lastSeq == 10)
    }

    @Test mutating func upToDateClientGetsNoReplay() throws {
        append(3)
        #expect(try #require(log.events(after: 3)).isEmpty)
        #expect(try #require(EventLog().events(after: 0)).isEmpty)
    }

    @Test mutating func unknownSequenceNumberCannotResume() {
        append(3)
        #expect(log.events(after: 4) == nil)
        #expect(log.events(after: .max) == nil)
    }

    @Test mutating func newestReadingReplacesEarlierOnes() throws {
        let readings = (1...3).map { EncodedEvent(.stats(ConnectionStats(rttMs: Double($0), sent: 0, dropped: 0, lateP99Ms: 0))) }
        for reading in readings {
            _ = log.append(reading, at: now)
            append(1)
        }
        let missed = try #require(log.events(after: 0))
        #expect(missed.map(\.seq) == Array(1...6))
        for (seq, event) in missed where event.supersedesPrevious { #expect(event.bytes(seq: seq) == readings[2].bytes(seq: seq)) }
        #expect(missed.count { $0.event.supersedesPrevious } == 3)
    }

    @Test mutating func logKeepsTheLast256Events() throws {
        append(300)
        #expect(try #require(log.events(after: 44)).map(\.seq) == Array(45...300))
        #expect(log.events(after: 43) == nil)
        #expect(log.events(after: 0) == nil)
    }

    @Test mutating func logKeepsAtMostOneMegabyte() throws {
        append(20, bytes: 100_000)
        #expect(try #require(log.events(after: 10)).count == 10)
        #expect(log.events(after: 9) == nil)
    }

    @Test mutating func oversizedEventIsEvictedAndNumberingContinues() throws {
        append(1, bytes: 2_000_000)
        #expect(log.events(after: 0) == nil)
        append(2)
        #expect(try #require(log.events(after: 1)).map(\.seq) == [2, 3])
    }

    @Test mutating func undeliveredHelloIsRemovedWithoutANumberGap() throws {
        append(3)
        _ = log.appendHello(at: now)
        append(2)
        log.removeHellos(after: 2)
        let missed = try #require(log.events(after: 2))
        #expect(missed.map(\.seq) == [3, 4, 5])
        #expect(log.lastSeq == 5)
    }

    @Test mutating func deliveredHelloKeepsItsNumber() throws {
        _ = log.appendHello(at: now)
        append(2)
        log.removeHellos(after: 1)
        #expect(try #require(log.events(after: 1)).map(\.seq) == [2, 3])
        log.removeHellos(after: 3)
        log.removeHellos(after: 100)
        #expect(log.lastSeq == 3)
    }

    @Test mutating func logEvictsEventsOlderThanAMinute() throws {
        append(5)
        now = now + .seconds(61)
        append(1)
        #expect(log.events(after: 4) == nil)
        #expect(try #require(log.events(after: 5)).count == 1)
    }

    // MARK: After a restore

    @Test mutating func restoredLogContinuesTheNumbers() throws {
        log = EventLog(after: 41)
        #expect(try #require(log.events(after: 41)).isEmpty && log.events(after: 40) == nil && log.kept.isEmpty)
        append(3)
        #expect(log.kept.map(\.seq) == [42, 43, 44])
    }

    @Test mutating func restoredLogFollowsWhatTheClientHasSeen() {
        log = EventLog(after: 41)
        append(2)
        log.advance(past: 60)
        #expect(log.kept.map(\.seq) == [61, 62] && log.lastSeq == 62)
        log.advance(past: 50)
        #expect(log.lastSeq == 62, "numbers never go back")
        append(1)
        #expect(log.events(after: 60)?.map(\.seq) == [61, 62, 63])
    }

    @Test mutating func evictedEventsOfARestoredLogAreSkipped() {
        log = EventLog(after: 41)
        append(ProtocolLimits.resumeEventsMax + 5)
        _ = log.appendHello(at: now)
        #expect(log.kept.first?.seq == 48 && log.kept.count == ProtocolLimits.resumeEventsMax - 1)
    }
}
