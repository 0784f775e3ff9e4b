import Testing
import Wire

struct BundleTests {
    private static let frames = [
        [UInt8](repeating: 0x41, count: 20), [UInt8](repeating: 0x42, count: 13), [UInt8](repeating: 7, count: 1_500),
    ]

    @Test func framesAreDeliveredInOrder() throws {
        #expect(try Self.frames(in: Bundle.joining(Self.frames)) == Self.frames)
        let fifty = (0..<50).map { [UInt8](repeating: UInt8($0), count: 300) }
        #expect(try Self.frames(in: Bundle.joining(fifty)) == fifty)
    }

    @Test func layoutMatchesTheProtocol() {
        #expect(Bundle.joining([[9, 8, 7], [6]]) == [0x42, 2, 0, 3, 9, 8, 7, 0, 1, 6])
    }

    static let lying: [(story: String, bytes: [UInt8])] = [
        ("nothing", []), ("one byte", [0x42]), ("none", [0x42, 0]), ("none and something", [0x42, 0, 1]),
        ("one that is not there", [0x42, 1]), ("half a length", [0x42, 1, 0]), ("a length and nothing", [0x42, 1, 0, 1]),
        ("a length one too long", [0x42, 1, 0, 3, 1, 2]), ("a length one too short", [0x42, 1, 0, 1, 1, 2]),
        ("a length of 65,535", [0x42, 1, 0xFF, 0xFF, 1, 2]), ("two, and one is there", [0x42, 2, 0, 1, 1]),
        ("one, and two are there", [0x42, 1, 0, 1, 1, 0, 1, 1]), ("51", [0x42, 51] + [UInt8](repeating: 0, count: 102)),
        ("255", [0x42, 255] + [UInt8](repeating: 0, count: 510)), ("a frame", [0x41, 1, 0, 1, 1]), ("version 2", [0x82, 1, 0, 1, 1]),
    ]

    @Test("Inconsistent bundles deliver no frame", arguments: lying.map(\.bytes))
    func refused(_ bytes: [UInt8]) {
        var handedOver = 0
        #expect(throws: FrameError.bundle) {
            try bytes.withUnsafeBytes { bytes throws in try Bundle.forEachFrame(in: bytes) { _ in handedOver += 1 } }
        }
        #expect(handedOver == 0)
    }

    @Test func oneOver16KiBIsTooLong() {
        #expect(throws: FrameError.long) { try Self.frames(in: [0x42, 1, 0x40, 0] + [UInt8](repeating: 1, count: 16_384)) }
    }

    @Test func truncatedBundlesAreRejected() {
        let whole = Bundle.joining(Self.frames)
        for length in 0..<whole.count {
            #expect(throws: FrameError.bundle) { try Self.frames(in: Array(whole.prefix(length))) }
        }
    }

    @Test func nestedBundlesAreRejected() throws {
        let nested = try Self.frames(in: Bundle.joining([Bundle.joining([Self.frames[0]])]))
        #expect(nested.count == 1)
        #expect(throws: FrameError.kind) { try nested[0].withUnsafeBytes { bytes throws in try FrameHeader(parsing: bytes) } }
    }

    @Test func noBytesTrap() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<100_000 {
            var bytes = [0x42, UInt8(random.below(4))] + random.bytes(random.below(24))
            // Small lengths are the interesting ones.
            if bytes.count > 4 { bytes[2] = 0 }
            if bytes.count > 4 { bytes[3] = UInt8(random.below(24)) }
            if let frames = try? Self.frames(in: bytes) { #expect(Bundle.joining(frames) == bytes) }
        }
    }

    @Test func joiningInvalidFramesTraps() async {
        await #expect(processExitsWith: .failure) { _ = Bundle.joining([]) }
        await #expect(processExitsWith: .failure) { _ = Bundle.joining(Array(repeating: [1], count: 51)) }
        await #expect(processExitsWith: .failure) { _ = Bundle.joining(Array(repeating: [UInt8](repeating: 1, count: 1_500), count: 11)) }
    }

    private static func frames(in bytes: [UInt8]) throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        try bytes.withUnsafeBytes { bytes throws in try Bundle.forEachFrame(in: bytes) { frames.append(Array($0)) } }
        return frames
    }
}
