import Testing
import Wire

@testable import Engine

struct FrameStoreTests {
    private func put(_ bytes: [UInt8], into store: inout FrameStore) throws -> FrameRef {
        let frame = bytes.withUnsafeBytes { store.store($0) }
        return try #require(frame)
    }

    @Test func storedFrameIsUnchanged() throws {
        var store = FrameStore(headroom: 16)
        let bytes = [UInt8](0..<200)
        let frame = try put(bytes, into: &store)
        #expect(Array(store.bytes(of: frame)) == bytes)
    }

    @Test func headroomIsWritableWithoutTouchingFrames() throws {
        var store = FrameStore(headroom: 16)
        let frames = try (0..<300).map { number in
            try put([UInt8](repeating: UInt8(number % 251), count: 1_500), into: &store)
        }
        for frame in frames {
            let start = try #require(store.bytes(of: frame).baseAddress)
            (start - 16).initializeMemory(as: UInt8.self, repeating: 0xFF, count: 16)
        }
        for (number, frame) in frames.enumerated() {
            #expect(store.bytes(of: frame).allSatisfy { $0 == UInt8(number % 251) })
        }
    }

    @Test func frameIsKeptUntilItsLastRelease() throws {
        var store = FrameStore(headroom: 16)
        let frame = try put([1, 2, 3], into: &store)
        store.retain(frame)
        store.release(frame)
        #expect(store.heldCount == 1)
        store.release(frame)
        #expect(store.heldCount == 0)
    }

    @Test func fullStoreRejectsFramesUntilARelease() throws {
        var store = FrameStore(headroom: 16, framesMax: 256)
        let frames = try (0..<256).map { _ in try put([7], into: &store) }
        let rejected = ([8] as [UInt8]).withUnsafeBytes { store.store($0) }
        #expect(rejected == nil)
        store.release(frames[100])
        _ = try put([9], into: &store)
    }

    @Test func useAfterReleaseTraps() async {
        await #expect(processExitsWith: .failure) {
            var store = FrameStore(headroom: 16)
            guard let frame = ([1] as [UInt8]).withUnsafeBytes({ store.store($0) }) else { return }
            store.release(frame)
            _ = store.bytes(of: frame)
        }
    }
}
