import Synchronization
import Testing
import Wire

@testable import Cluster

struct NATSRequestsTests {
    private func at(_ seconds: UInt64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test func requestsEndOnceInTheOrderOfTheirDeadlines() throws {
        let ended = Mutex<[Int]>([])
        var requests = NATSRequests()
        var numbers: [UInt64] = []
        for index in 0..<4 {
            numbers.append(try #require(requests.add(deadline: at(10 + UInt64(index))) { _ in ended.withLock { $0.append(index) } }))
        }
        #expect(requests.nextDeadline() == at(10))
        #expect(requests.takeExpired(at: at(9)).isEmpty)
        requests.take(numbers[0])?(.success([]))
        #expect(requests.take(numbers[0]) == nil)
        #expect(requests.nextDeadline() == at(11))
        for completion in requests.takeExpired(at: at(12)) { completion(.failure(.unavailable)) }
        #expect(requests.take(numbers[1]) == nil)
        #expect(requests.nextDeadline() == at(13))
        for completion in requests.takeAll() { completion(.failure(.unavailable)) }
        #expect(ended.withLock { $0 } == [0, 1, 2, 3])
        #expect(requests.nextDeadline() == nil)
        #expect(requests.takeExpired(at: at(99)).isEmpty)
    }

    @Test func requestsBeyondTheLimitAreNotAdded() throws {
        var requests = NATSRequests()
        let first = try #require(requests.add(deadline: at(1)) { _ in })
        for _ in 1..<NATSLimits.pendingRequestsMax { #expect(requests.add(deadline: at(1)) { _ in } != nil) }
        #expect(requests.add(deadline: at(1)) { _ in } == nil)
        #expect(requests.take(first) != nil)
        #expect(requests.add(deadline: at(2)) { _ in } != nil)
        #expect(requests.takeExpired(at: at(1)).count == NATSLimits.pendingRequestsMax - 1)
        #expect(requests.nextDeadline() == at(2))
    }
}
