import Testing
import Wire

/// A binary message that must be dropped in whole or part, and the counter that increases.
struct BadFrame: Sendable, CustomTestStringConvertible {
    /// The room: Eve publishes and sends it, Lea subscribes, Mal publishes another track.
    struct Stage {
        let eve: Caller
        let lea: Caller
        let own: TrackInfo
        let others: TrackInfo
    }

    let testDescription: String
    let counter: Counter
    /// The counter's increase.
    let count: Double
    let message: @Sendable (Stage) throws -> [UInt8]

    init(_ story: String, _ counter: Counter, count: Double = 1, _ message: @escaping @Sendable (Stage) throws -> [UInt8]) {
        testDescription = story
        self.counter = counter
        self.count = count
        self.message = message
    }

    /// A frame that is valid except for one byte.
    init(_ story: String, _ fault: String, byte place: Int, _ value: UInt8) {
        self.init(story, .malformed(fault)) {
            var frame = TestFrame.bytes($0.own.alias, 1)
            frame[place] = value
            return frame
        }
    }
}

extension BadFrame {
    static let short = (0..<12).map { length in
        BadFrame("\(length) bytes", .malformed("short")) { Array(TestFrame.bytes($0.own.alias, 1).prefix(length)) }
    }

    static let ofHeader: [BadFrame] = [
        BadFrame("a header without a packet", .malformed("empty")) { Array(TestFrame.bytes($0.own.alias, 1).prefix(12)) },
        BadFrame("1,501 bytes", .malformed("long")) { TestFrame.bytes($0.own.alias, 1, packetBytes: 1_489) },
        BadFrame("16,384 bytes", .malformed("long")) { TestFrame.bytes($0.own.alias, 1, packetBytes: 16_372) },
        BadFrame("version 0", "version", byte: 0, 0x01),
        BadFrame("version 2", "version", byte: 0, 0x81),
        BadFrame("version 3", "version", byte: 0, 0xC1),
        BadFrame("type 0", "kind", byte: 0, 0x40),
        BadFrame("type 3", "kind", byte: 0, 0x43),
        BadFrame("type 63", "kind", byte: 0, 0x7F),
        BadFrame("the gateway's own flag", "flags", byte: 1, 0x08),
        BadFrame("reserved flag 4", "flags", byte: 1, 0x04),
        BadFrame("reserved flag 2", "flags", byte: 1, 0x02),
        BadFrame("reserved flag 1", "flags", byte: 1, 0x01),
        BadFrame("all flags", "flags", byte: 1, 0xFF),
        BadFrame("alias 0", .malformed("alias")) { _ in TestFrame.bytes(TrackAlias(0), 1) },
    ]

    static let ofTrack: [BadFrame] = [
        BadFrame("another's alias", .dropped("not_published")) { TestFrame.bytes($0.others.alias, 1) },
        BadFrame("an alias that nobody has", .dropped("not_published")) { _ in TestFrame.bytes(TrackAlias(60_000), 1) },
        BadFrame("an alias that is no more", .dropped("not_published")) {
            let gone = try $0.eve.publish()
            try $0.eve.ask(.unpublish(gone.sid))
            return TestFrame.bytes(gone.alias, 1)
        },
        BadFrame("a muted track", .dropped("muted")) {
            let muted = try $0.eve.publish()
            try $0.eve.ask(.mute(muted.sid, muted: true))
            return TestFrame.bytes(muted.alias, 1)
        },
        BadFrame("an epoch that is not yet", .dropped("epoch")) { TestFrame.bytes($0.own.alias, 1, epoch: 1) },
        BadFrame("an epoch before the first", .dropped("epoch")) { TestFrame.bytes($0.own.alias, 1, epoch: 255) },
    ]

    static let ofBundle: [BadFrame] = [
        BadFrame("a bundle's first byte alone", .malformed("bundle")) { _ in [0x42] },
        BadFrame("a bundle of none", .malformed("bundle")) { _ in [0x42, 0] },
        BadFrame("a bundle of none with something in it", .malformed("bundle")) { [0x42, 0] + good($0).dropFirst(2) },
        BadFrame("a bundle of 51", .malformed("bundle")) { stage in
            [0x42, 51] + (0..<51).flatMap { [0, 20] + TestFrame.bytes(stage.own.alias, $0, packetBytes: 8) }
        },
        BadFrame("a bundle that says 2 and holds 1", .malformed("bundle")) { [0x42, 2] + good($0).dropFirst(2) },
        BadFrame("a bundle that says 1 and holds 2", .malformed("bundle")) { [0x42, 1] + good($0).dropFirst(2) + good($0).dropFirst(2) },
        BadFrame("a length one too long", .malformed("bundle")) { lying($0, by: 1) },
        BadFrame("a length one too short", .malformed("bundle")) { lying($0, by: -1) },
        BadFrame("a length of 65,535", .malformed("bundle")) { [0x42, 1, 0xFF, 0xFF] + good($0).dropFirst(4) },
        BadFrame("half a length", .malformed("bundle")) { good($0) + [0] },
        BadFrame("a frame too long in a bundle", .malformed("long")) {
            Bundle.joining([TestFrame.bytes($0.own.alias, 1, packetBytes: 1_489)])
        },
        BadFrame("an empty frame in a bundle", .malformed("short")) { _ in [0x42, 1, 0, 0] },
        BadFrame("50 frames of no bytes", .malformed("short"), count: 50) { _ in [0x42, 50] + [UInt8](repeating: 0, count: 100) },
        BadFrame("a bundle in a bundle", .malformed("kind")) { Bundle.joining([good($0)]) },
        BadFrame("another's alias in a bundle", .dropped("not_published")) { Bundle.joining([TestFrame.bytes($0.others.alias, 1)]) },
    ]

    private static func good(_ stage: Stage) -> [UInt8] { Bundle.joining([TestFrame.bytes(stage.own.alias, 1)]) }

    private static func lying(_ stage: Stage, by difference: Int) -> [UInt8] {
        var bundle = good(stage)
        bundle[3] = UInt8(Int(bundle[3]) + difference)
        return bundle
    }
}
