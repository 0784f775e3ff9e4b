import Store
import Testing

struct UnavailableStoreTests {
    @Test(.timeLimit(.minutes(1)), arguments: [StoreError.full, .busy, .unreachable]) func repetitionsEndWithTheirTask(_ error: StoreError)
        async
    {
        let (retries, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await StoreError.retryingWhileUnavailable { reason in
                #expect(reason == error)
                continuation.yield()
            } body: {
                throw error
            }
        }
        for await _ in retries { break }
        task.cancel()
        await #expect(throws: StoreError.cancelled) { try await task.value }
    }

    @Test func otherErrorsAreNotRepeated() async {
        await #expect(throws: StoreError.notFound) {
            try await StoreError.retryingWhileUnavailable { _ in
                Issue.record("a repetition")
            } body: {
                throw StoreError.notFound
            }
        }
    }
}
