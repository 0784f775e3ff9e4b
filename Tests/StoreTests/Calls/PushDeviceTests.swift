import Identity
import Store
import Testing

/// Devices that can be woken.
struct PushDeviceTests {
    private static let token = SecretText("00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")

    private let world: StoreWorld
    private var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    @Test func aKnownTokenKeepsItsID() async throws {
        let ann = try await world.makeUser()
        let first = try await store.calls.registerPushDevice(.ios, token: Self.token, of: ann.id, at: world.now)
        let again = try await store.calls.registerPushDevice(.ios, token: Self.token, of: ann.id, at: world.now + .seconds(9))
        #expect(first.id == again.id)
        #expect(try await store.calls.pushDevices(of: ann.id) == [again])
    }

    @Test func aChangedPasswordForgetsAllDevicesOfItsUser() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        _ = try await store.calls.registerPushDevice(.ios, token: Self.token, of: ann.id, at: world.now)
        let bobs = try await store.calls.registerPushDevice(.android, token: SecretText("bob's"), of: bob.id, at: world.now)
        let outcome = try await store.accounts.changePassword(
            of: ann.id, from: StoreWorld.password, to: SecretText("a new password"), at: world.now)
        #expect(outcome == .changed)
        #expect(try await store.calls.pushDevices(of: ann.id).isEmpty)
        #expect(try await store.calls.pushDevices(of: bob.id) == [bobs])
    }

    @Test func aTokenBelongsToTheLastUserOfThePhone() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        let anns = try await store.calls.registerPushDevice(.ios, token: Self.token, of: ann.id, at: world.now)
        let bobs = try await store.calls.registerPushDevice(.ios, token: Self.token, of: bob.id, at: world.now)
        #expect(try await store.calls.pushDevices(of: ann.id).isEmpty)
        #expect(try await store.calls.pushDevices(of: bob.id) == [bobs] && anns.id != bobs.id)
    }

    @Test func theLeastRecentlyRegisteredIsDroppedBeyondTheLimit() async throws {
        let ann = try await world.makeUser()
        for index in 0...StoreLimits.pushDevicesPerUserMax {
            let token = SecretText("token \(index)")
            _ = try await store.calls.registerPushDevice(.android, token: token, of: ann.id, at: world.now + .seconds(index))
        }
        let tokens = try await store.calls.pushDevices(of: ann.id).map(\.token.revealedText)
        #expect(tokens.count == StoreLimits.pushDevicesPerUserMax && tokens.first == "token 16" && tokens.last == "token 1")
    }

    @Test(arguments: ["", "abc", "../../3/device/x", "zz" + String(repeating: "0", count: 62)])
    func aTokenThatAPNsWouldNotGiveIsRefused(text: String) async throws {
        let ann = try await world.makeUser()
        await #expect(throws: StoreError.self) {
            try await store.calls.registerPushDevice(.ios, token: SecretText(text), of: ann.id, at: world.now)
        }
    }

    @Test func aDeviceIsItsUsersOnly() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        let device = try await store.calls.registerPushDevice(.ios, token: Self.token, of: ann.id, at: world.now)
        await #expect(throws: StoreError.notFound) { try await store.calls.removePushDevice(device.id, of: bob.id) }
        await #expect(throws: StoreError.notFound) {
            try await store.calls.removePushDevice(device.id, of: ann.id, registeredBefore: world.now - .seconds(1))
        }
        try await store.calls.removePushDevice(device.id, of: ann.id, registeredBefore: world.now)
        #expect(try await store.calls.pushDevices(of: ann.id).isEmpty)
    }

    @Test func tokensAreSealedAndDeletedWithTheirUser() async throws {
        let ann = try await world.makeUser()
        _ = try await store.calls.registerPushDevice(.ios, token: Self.token, of: ann.id, at: world.now)
        #expect(try world.files(with: Self.token.revealedBytes).isEmpty)
        #expect(try await store.verify().isClean)
        try await store.accounts.deleteUser(ann.id)
        #expect(try await store.calls.pushDevices(of: ann.id).isEmpty)
        #expect(try world.count("SELECT count(*) FROM push_devices") == 0)
    }
}
