import Foundation
import Testing

@testable import Gateway

struct HeapTrimTests {
    /// Four of them are worth a trim.
    private static let part = HeapTrimPolicy.growthMin / 4

    @Test func trimsOnlyAfterGrowth() {
        var policy = HeapTrimPolicy()
        let wants = [10, 12, 13, 9, 12, 13].map { policy.wantsTrim(unusedBytes: $0 * Self.part) }
        #expect(wants == [false, false, false, false, false, true])
    }

    @Test func doesNotRepeatATrimThatReturnedNothing() {
        var policy = HeapTrimPolicy()
        _ = policy.wantsTrim(unusedBytes: 0)
        let first = policy.wantsTrim(unusedBytes: 8 * Self.part)
        policy.didTrim(unusedBytes: 8 * Self.part)
        let rest = [8, 12].map { policy.wantsTrim(unusedBytes: $0 * Self.part) }
        #expect([first] + rest == [true, false, true])
    }

    /// Memory below a single remaining allocation goes back to the system.
    @Test func returnsFreedMemoryThatIsPinned() throws {
        var policy = HeapTrimPolicy()
        HeapTrimmer.step(&policy)
        let chunks = (0..<16_384).map { _ in
            let chunk = malloc(4_096)!
            memset(chunk, 1, 4_096)
            return chunk
        }
        defer { free(chunks.last) }
        for chunk in chunks.dropLast() { free(chunk) }
        let before = try #require(ProcessStatistics.anonymousBytes)
        let isTrimmed = HeapTrimmer.step(&policy)
        let after = try #require(ProcessStatistics.anonymousBytes)
        #expect(isTrimmed)
        // Other tests allocate at the same time.
        #expect(before - after > 16 << 20)
    }
}
