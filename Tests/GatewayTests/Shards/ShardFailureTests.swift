import Testing

@testable import Gateway

struct ShardFailureTests {
    private struct Fault: Error {}

    @Test(.timeLimit(.minutes(1))) func shardThatFailsStopsTheOthers() async {
        let (stopped, stop) = AsyncStream.makeStream(of: Never.self)
        let others = Task { for await _ in stopped {} }
        await #expect(throws: Fault.self) {
            try await Gateway.runAll(0..<3) { index in
                if index == 1 { throw Fault() }
                // As a shard's thread: not cancelled with the task.
                await others.value
            } stop: {
                stop.finish()
            }
        }
    }
}
