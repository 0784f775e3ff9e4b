import Foundation
import Testing
import Wire

@testable import Store

/// Two nodes of a cluster that both take themselves for a room's home: once the later one has written, the store refuses the other.
struct RoomEpochTests {
    private let world: StoreWorld
    private var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    private func fence(_ number: UInt64, _ claim: UInt64 = 1, room: String = "den", at time: WallTime? = nil) -> RoomFence {
        RoomFence(room, RoomEpoch(number: number, claim: claim), at: time ?? world.now)
    }

    private func announcement(_ event: String = "e", room: String = "den") -> Announcement {
        Announcement([OutgoingWebhook(event: event, endpoint: "https://a", room: room, body: "{}")])
    }

    private func announce(_ fence: RoomFence) async throws {
        try await store.webhooks.announce(
            announcement("\(fence.epoch.number) \(fence.epoch.claim)", room: fence.room), fencedBy: fence, at: world.now)
    }

    /// The events of the stored webhooks, in order.
    private func events() async throws -> [String] {
        try await store.webhooks.list(limit: 10_000).sorted { $0.number < $1.number }.map(\.webhook.event)
    }

    @Test func aLowerEpochIsRefusedAndWritesNothing() async throws {
        try await announce(fence(7))
        try await announce(fence(7))
        try await announce(fence(8))
        await #expect(throws: StoreError.superseded(byNumber: 8)) { try await announce(fence(7)) }
        #expect(try await events() == ["7 1", "7 1", "8 1"])
    }

    @Test func epochsOfOneNumberAreOrderedByTheirClaims() async throws {
        try await announce(fence(7, .max - 1))
        try await announce(fence(7, .max))
        await #expect(throws: StoreError.superseded(byNumber: 7)) { try await announce(fence(7, .max - 1)) }
        await #expect(throws: StoreError.superseded(byNumber: 7)) { try await announce(fence(7, 1)) }
    }

    @Test(arguments: [(1, 256), (255, 256), (1 << 63 - 1, 1 << 63), (1 << 63, UInt64.max)])
    func numbersOfAnySizeAreOrdered(lower: UInt64, higher: UInt64) async throws {
        try await announce(fence(lower, .max))
        try await announce(fence(higher, 0))
        await #expect(throws: StoreError.superseded(byNumber: higher)) { try await announce(fence(lower, .max)) }
    }

    @Test func otherRoomsAndWritesWithoutAFenceAreNotConcerned() async throws {
        try await announce(fence(8))
        try await announce(fence(1, room: "attic"))
        try await store.webhooks.announce(announcement("free"), at: world.now)
        #expect(try await events() == ["8 1", "1 1", "free"])
    }

    @Test func aSessionIsEndedAndItsTurnsAreStoredByTheLaterHomeOnly() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        let (old, new) = (fence(1, room: session.roomName), fence(2, room: session.roomName))
        let turns = (0..<3).map { world.turn("\($0)", in: session, after: .seconds($0)) }
        #expect(try await store.sessions.append(turns[0], of: user.id, fencedBy: old) == .stored)
        #expect(try await store.sessions.append(turns[1], of: user.id, fencedBy: new) == .stored)
        await #expect(throws: StoreError.superseded(byNumber: 2)) {
            try await store.sessions.append(turns[2], of: user.id, fencedBy: old)
        }
        await #expect(throws: StoreError.superseded(byNumber: 2)) {
            try await store.sessions.end(session.id, of: user.id, fencedBy: old, at: world.now)
        }
        let record = try await store.sessions.record(of: session.id, of: user.id)
        #expect(record.turns.map(\.text) == ["0", "1"] && record.session.endedAt == nil)
        #expect(try await store.sessions.end(session.id, of: user.id, fencedBy: new, at: world.now).isEndedNow)
    }

    /// Many homes at the same time. Whatever is written, no epoch follows a higher one.
    @Test func epochsAscendHoweverTransactionsMeet() async throws {
        await withTaskGroup { group in
            for number in (1...40).shuffled() {
                group.addTask {
                    for _ in 1...3 { try? await announce(fence(UInt64(number))) }
                }
            }
        }
        let numbers = try await events().map { Int($0.prefix { $0 != " " }) ?? 0 }
        #expect(numbers == numbers.sorted() && numbers.suffix(3) == [40, 40, 40])
    }

    @Test func anEpochIsForgottenADayAfterItsLastWrite() async throws {
        try await announce(fence(8))
        try await announce(fence(8, at: world.now + .seconds(3_600)))
        try await store.expire(at: world.now + StoreLimits.roomEpochsKept)
        await #expect(throws: StoreError.superseded(byNumber: 8)) { try await announce(fence(7)) }
        try await store.expire(at: world.now + StoreLimits.roomEpochsKept + .seconds(3_600))
        #expect(try world.count("SELECT count(*) FROM room_epochs") == 0)
        try await announce(fence(7))
    }

    @Test func theNameOfTheRoomIsNotReadable() async throws {
        try await announce(fence(1, room: "room-of-ann-and-ben"))
        let rooms = try world.blobs("SELECT room FROM room_epochs")
        #expect(rooms.count == 1 && rooms[0].range(of: Data("room-of-ann-and-ben".utf8)) == nil)
    }
}
