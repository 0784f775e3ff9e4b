import Identity
import Testing
import Wire

@testable import Store

/// Contacts, and whom a user may call.
struct ContactTests {
    private let world: StoreWorld
    private var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    private func makeUser(_ name: String, _ reachableBy: ReachableBy = .contacts) async throws -> User {
        let user = try await world.makeUser("\(name)@example.org")
        return try await store.accounts.updateSettings(of: user.id) {
            $0.reachableBy = reachableBy
            $0.handle = name
        }
    }

    private func addresses(of user: User, _ name: String) -> [UserAddress] {
        [.id(user.id), .email("\(name)@EXAMPLE.org"), .handle(name.uppercased())]
    }

    @Test(arguments: [(ReachableBy.nobody, false, 0), (.contacts, false, 1), (.contacts, true, 3), (.anyone, false, 3), (.nobody, true, 0)])
    func aUserIsFoundByThoseItWantsToReachIt(reachableBy: ReachableBy, isContact: Bool, count: Int) async throws {
        let (ann, bob) = (try await makeUser("ann"), try await makeUser("bob", reachableBy))
        if isContact { try await store.accounts.setContacts([Contact(address: "Ann@example.org")], of: bob.id) }
        let found = try await store.accounts.callees(at: addresses(of: bob, "bob"), for: ann.id)
        #expect(found.count == count && found.values.allSatisfy { $0 == bob.id })
        #expect(found[.id(bob.id)] != nil || reachableBy == .nobody, "an id that was given away stays valid")
    }

    @Test(arguments: [0, 1, 2])
    func aContactIsRecognizedByEachOfItsAddresses(index: Int) async throws {
        let (ann, bob) = (try await makeUser("ann"), try await makeUser("bob"))
        let contact = [ann.id.text, "ANN@example.org", "@Ann"][index]
        try await store.accounts.setContacts([Contact(address: contact)], of: bob.id)
        #expect(try await store.accounts.callees(at: [.handle("bob")], for: ann.id).count == 1)
        let eve = try await makeUser("eve")
        #expect(try await store.accounts.callees(at: [.handle("bob")], for: eve.id).isEmpty)
    }

    @Test func anExternalIssuersClaimOfAnAddressProvesNothing() async throws {
        let bob = try await makeUser("bob")
        try await store.accounts.setContacts([Contact(address: "ann@example.org")], of: bob.id)
        let impostor = try await store.accounts.user(issuer: "https://id", subject: "7", email: "ann@example.org", at: world.now)
        #expect(try await store.accounts.callees(at: [.email("bob@example.org")], for: impostor.id).isEmpty)
    }

    @Test func anUnconfirmedAddressNamesNobodyWhereConfirmationIsRequired() async throws {
        let (ann, bob) = (try await makeUser("ann"), try await makeUser("bob", .anyone))
        #expect(try await store.accounts.callees(at: [.email("bob@example.org")], for: ann.id, isConfirmed: true).isEmpty)
        #expect(try await store.accounts.callees(at: [.handle("bob")], for: ann.id, isConfirmed: true)[.handle("bob")] == bob.id)
    }

    @Test func aDeletedUserIsNotFoundAndItsHandleIsFree() async throws {
        let (ann, bob) = (try await makeUser("ann"), try await makeUser("bob", .anyone))
        await #expect(throws: StoreError.handleTaken) { try await store.accounts.updateSettings(of: ann.id) { $0.handle = "BOB" } }
        try await store.accounts.deleteUser(bob.id)
        #expect(try await store.accounts.callees(at: addresses(of: bob, "bob"), for: ann.id).isEmpty)
        #expect(try await store.accounts.updateSettings(of: ann.id) { $0.handle = "BOB" }.settings.handle == "BOB")
    }

    @Test func contactsAreListedInTheirOrderPageByPage() async throws {
        let ann = try await makeUser("ann")
        let contacts = (0..<5).map { Contact(address: "friend\($0)@example.org", name: "Friend \($0)") }
        try await store.accounts.setContacts(contacts.reversed(), of: ann.id)
        try await store.accounts.setContacts(contacts, of: ann.id)
        var (found, cursor): ([Contact], NumberCursor?) = ([], nil)
        repeat {
            let page = try await store.accounts.contacts(of: ann.id, after: cursor, limit: 2)
            found += page.elements
            cursor = try page.next.map { try NumberCursor(text: $0.text) }
        } while cursor != nil
        #expect(found == contacts)
        #expect(try world.files(with: "friend1@example.org".utf8).isEmpty)
        #expect(try await store.verify().isClean)
    }

    @Test(arguments: ["ann", "@a", "@", "a@b@c", "@ann bob", "", "@-ann", "7C0B8F3C-6A52-4C1B-9A57-3F0A5F7F2B11"])
    func whatIsNoAddressIsRefused(text: String) async throws {
        let ann = try await makeUser("ann")
        #expect(UserAddress(text: text) == nil)
        await #expect(throws: StoreError.self) { try await store.accounts.setContacts([Contact(address: text)], of: ann.id) }
    }

    @Test func contactsAreLimitedAndUnique() async throws {
        let ann = try await makeUser("ann")
        let many = (0...StoreLimits.contactsPerUserMax).map { Contact(address: "f\($0)@example.org") }
        await #expect(throws: StoreError.self) { try await store.accounts.setContacts(many, of: ann.id) }
        let twice = [Contact(address: "bob@example.org"), Contact(address: "Bob@example.org")]
        await #expect(throws: StoreError.self) { try await store.accounts.setContacts(twice, of: ann.id) }
    }
}
