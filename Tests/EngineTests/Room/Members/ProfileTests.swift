import Testing
import Wire

@testable import Engine

struct ProfileTests {
    private static let free = Permission(canUpdateMetadata: true)

    @Test func profileChangeIsReportedAndRefreshesTheToken() throws {
        var world = RoomWorld()
        let ann = world.join("ann", permission: Self.free)
        let bob = world.join("bob")
        let update = ParticipantUpdate(name: "Ann A.", metadata: "m", attributes: ["k": "v"])
        #expect(world.send(ann, .updateParticipant(update)) == .reply(.done))
        #expect(world.trace == ["reply > ann", "participantUpdated > ann bob", "token > ann"])
        guard case .participantUpdated(let info, .connected) = world.takeEvents(bob).last else { throw Unexpected(what: "no update") }
        #expect(info.name == "Ann A." && info.metadata == "m" && info.attributes == ["k": "v"] && info.tracks == nil)
        let content = try #require(world.tokens.last?.content)
        #expect(content.identity == "ann" && content.name == "Ann A." && content.metadata == "m" && content.attributes == ["k": "v"])
        #expect(content.room == "den" && content.sessionID == "session-ann" && content.permission == Self.free)
    }

    @Test func profileChangeRequiresTheGrant() {
        var world = RoomWorld()
        let ann = world.join("ann", isRoomAdmin: true)
        #expect(world.send(ann, .updateParticipant(ParticipantUpdate(name: "x")))?.code == .notAllowed)
        #expect(world.trace == ["reject not_allowed > ann"])
    }

    @Test func omittedFieldsStayUnchanged() {
        var world = RoomWorld()
        let ann = world.join("ann", permission: Self.free, attributes: ["a": "1", "b": "2"])
        world.send(ann, .updateParticipant(ParticipantUpdate(attributes: ["b": "3"])))
        let info = world.room.participants.first
        #expect(info?.name == "ANN" && info?.attributes == ["a": "1", "b": "3"])
        world.send(ann, .updateParticipant(ParticipantUpdate(name: "", metadata: "m")))
        let later = world.room.participants.first
        #expect(later?.name == "" && later?.metadata == "m" && later?.attributes == ["a": "1", "b": "3"])
    }

    @Test func emptyValueDeletesAnAttribute() {
        var world = RoomWorld()
        let ann = world.join("ann", permission: Self.free, attributes: ["a": "1", "b": "2"])
        world.send(ann, .updateParticipant(ParticipantUpdate(attributes: ["a": ""])))
        #expect(world.room.participants.first?.attributes == ["b": "2"])
        world.send(ann, .updateParticipant(ParticipantUpdate(attributes: ["never": ""])))
        #expect(world.trace == ["reply > ann"])
    }

    @Test(arguments: [
        ParticipantUpdate(), ParticipantUpdate(attributes: [:]), ParticipantUpdate(name: "ANN", metadata: "", attributes: ["a": "1"]),
    ])
    func changeWithoutEffectIsOnlyAcknowledged(update: ParticipantUpdate) {
        var world = RoomWorld()
        let ann = world.join("ann", permission: Self.free, attributes: ["a": "1"])
        #expect(world.send(ann, .updateParticipant(update)) == .reply(.done))
        #expect(world.trace == ["reply > ann"])
    }

    @Test(arguments: [
        (ParticipantUpdate(name: String(repeating: "n", count: 256)), true),
        (ParticipantUpdate(name: String(repeating: "n", count: 257)), false),
        (ParticipantUpdate(name: String(repeating: "ä", count: 129)), false),
        (ParticipantUpdate(metadata: String(repeating: "m", count: 524_288)), true),
        (ParticipantUpdate(metadata: String(repeating: "m", count: 524_289)), false),
        // Keys and values count together, "old" and "one" among them.
        (ParticipantUpdate(attributes: ["k": String(repeating: "v", count: 65_529)]), true),
        (ParticipantUpdate(attributes: ["k": String(repeating: "v", count: 65_530)]), false),
        (ParticipantUpdate(attributes: ["old": "", "k": String(repeating: "v", count: 65_535)]), true),
    ])
    func sizesAreLimited(update: ParticipantUpdate, fits: Bool) {
        var world = RoomWorld()
        let ann = world.join("ann", permission: Self.free, attributes: ["old": "one"])
        let before = world.room.participants
        let code = world.send(ann, .updateParticipant(update))?.code
        #expect(code == (fits ? nil : .limitExceeded))
        #expect((world.room.participants == before) == !fits)
    }

    @Test func oversizedFieldRejectsTheWholeUpdate() {
        var world = RoomWorld()
        let ann = world.join("ann", permission: Self.free)
        let update = ParticipantUpdate(name: "x", attributes: ["k": String(repeating: "v", count: 70_000)])
        #expect(world.send(ann, .updateParticipant(update))?.code == .limitExceeded)
        #expect(world.room.participants.first?.name == "ANN")
    }
}

struct TokenRefreshTests {
    @Test func requestedTokenIsTheReply() throws {
        var world = RoomWorld()
        let ann = world.join("ann", isRoomAdmin: true)
        #expect(world.send(ann, .refreshToken) == nil)
        #expect(world.trace == ["token re > ann"])
        let token = try #require(world.tokens.last)
        #expect(token.handle == ann && token.re == 1 && token.content.isRoomAdmin && token.content.kind == .standard)
    }

    @Test func tokensAreRefreshedEveryFiveMinutes() {
        var world = RoomWorld()
        world.join("ann")
        world.pass(.minutes(2))
        world.join("bob")
        world.pass(.seconds(179))
        #expect(world.tokens.isEmpty)
        world.pass(.seconds(1))
        #expect(world.trace == ["token > ann"])
        world.pass(.minutes(2))
        #expect(world.trace == ["token > bob"])
        world.pass(.minutes(3))
        #expect(world.trace == ["token > ann"])
    }

    @Test func refreshIntervalCountsFromTheLastToken() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.pass(.minutes(4))
        world.send(ann, .refreshToken)
        world.pass(.seconds(299))
        #expect(world.effects.isEmpty)
        world.pass(.seconds(1))
        #expect(world.trace == ["token > ann"])
    }
}

struct ProfileCostTests {
    private static func world(attributes count: Int) -> (RoomWorld, ParticipantHandle) {
        var world = RoomWorld()
        let attributes = Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", "v") })
        let ann = world.join("ann", permission: Permission(canUpdateMetadata: true), attributes: attributes)
        world.join("bob")
        world.discardEvents()
        return (world, ann)
    }

    /// A participant with 8,000 attributes that changes one of them 500 times a second.
    @Test func updatesOfALargeProfileCoalesceAndEndWithTheNewestState() throws {
        var (world, ann) = Self.world(attributes: 8_000)
        var updates = 0
        var tokens = 0
        for number in 0..<1_000 {
            let before = world.tokens.count
            world.send(ann, .updateParticipant(ParticipantUpdate(attributes: ["k7": "\(number)"])))
            updates += world.trace.count { $0.hasPrefix("participantUpdated") }
            world.pass(.milliseconds(2))
            updates += world.trace.count { $0.hasPrefix("participantUpdated") }
            tokens += world.tokens.count - before
        }
        #expect((2...20).contains(updates), "\(updates) full descriptions were sent")
        #expect(tokens == 1)
        world.pass(.seconds(10))
        let last = world.takeEvents(ann).compactMap { event -> ParticipantInfo? in
            if case .participantUpdated(let info, _) = event { info } else { nil }
        }.last
        #expect(last?.attributes["k7"] == "999")
        #expect(world.tokens.last?.content.attributes["k7"] == "999")
    }

    @Test func updatesOfASmallProfileAreSentAtOnce() {
        var (world, ann) = Self.world(attributes: 3)
        for number in 0..<100 {
            world.send(ann, .updateParticipant(ParticipantUpdate(attributes: ["k1": "\(number)"])))
            #expect(world.trace.contains("participantUpdated > ann bob"))
            world.pass(.milliseconds(10))
        }
    }

    @Test func requestedTokensOfALargeProfileAreLimited() {
        var (world, ann) = Self.world(attributes: 8_000)
        let answers = (0..<100).map { _ in world.send(ann, .refreshToken)?.code }
        #expect(answers.first == .some(nil))
        #expect(answers.last == .limitExceeded)
        world.pass(.seconds(5))
        #expect(world.send(ann, .refreshToken) == nil)
    }

    @Test func attributeSizeStaysCountedThroughManyChanges() {
        var (world, ann) = Self.world(attributes: 10)
        for number in 0..<40 {
            let value = String(repeating: "x", count: 2_000)
            world.send(ann, .updateParticipant(ParticipantUpdate(attributes: ["n\(number)": value])))
        }
        let attributes = world.room.participants.first?.attributes ?? [:]
        #expect(attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } <= ProtocolLimits.attributesBytesMax)
        #expect(attributes.count == 42, "32 of 40 fit: \(attributes.count)")
        world.send(ann, .updateParticipant(ParticipantUpdate(attributes: ["n0": ""])))
        #expect(world.send(ann, .updateParticipant(ParticipantUpdate(attributes: ["n0": "y"]))) == .reply(.done))
    }

    /// Compares processor time, so the bound is wide: copying 8,000 entries for each change would take hundreds of times as long.
    @Test func updateCostDoesNotDependOnTheNumberOfAttributes() {
        func cost(_ count: Int) -> Duration {
            var (world, ann) = Self.world(attributes: count)
            var room = world.room
            // The budget is used up first: no descriptions are sent while measuring.
            var effects: [Room.Effect] = []
            world.room = room
            let value = String(repeating: "m", count: 400_000)
            room.handle(
                .request(.updateParticipant(ParticipantUpdate(metadata: value)), id: 1, from: ann), at: world.now, into: &effects)
            for number in 0..<4 {
                room.handle(
                    .request(.updateParticipant(ParticipantUpdate(name: "n\(number)")), id: 1, from: ann), at: world.now, into: &effects)
            }
            effects = []
            world.discardEvents()
            return (0..<5).map { _ in
                ContinuousClock().measure {
                    for number in 0..<200 {
                        let update = ParticipantUpdate(attributes: ["k1": "\(number)"])
                        room.handle(.request(.updateParticipant(update), id: 1, from: ann), at: world.now, into: &effects)
                        effects.removeAll(keepingCapacity: true)
                    }
                }
            }.min() ?? .zero
        }
        let (small, large) = (cost(10), cost(8_000))
        #expect(large < small * 5, "10 attributes: \(small), 8,000: \(large)")
    }
}
