import Identity
import Testing
import Wire

@Suite("Grants")
struct GrantTests {
    private static func administrator(of room: String) -> AccessToken {
        token {
            $0.roomAdmin = true
            $0.room = room
        }
    }

    private static func token(identity: String = "ana", _ change: (inout VideoGrant) -> Void) -> AccessToken {
        var video = VideoGrant()
        change(&video)
        return AccessToken(identity: identity, expires: Issuers.now, video: video)
    }

    @Test("A token with roomJoin joins its room")
    func join() throws {
        let grant = try JoinGrant(Self.token { $0 = .joining("den") })
        #expect(grant.room == "den")
        #expect(grant.identity.text == "ana")
        #expect(grant.permission == Permission())
    }

    @Test(
        "A token that lacks something does not join",
        arguments: [
            (AccessToken(identity: "ana", expires: Issuers.now), GrantError.noVideoGrant),
            (token { $0.room = "den" }, .joinNotAllowed),
            (administrator(of: "den"), .joinNotAllowed),
            (token { $0.roomJoin = true }, .noRoom),
            (token(identity: "") { $0 = .joining("den") }, .joinNotAllowed),
        ])
    func noJoin(_ token: AccessToken, _ error: GrantError) {
        #expect(throws: error) { try JoinGrant(token) }
    }

    @Test("Each right of the server API needs its own flag")
    func admin() throws {
        try AdminGrant.listRooms.check(Self.token { $0.roomList = true })
        try AdminGrant.createRooms.check(Self.token { $0.roomCreate = true })
        try AdminGrant.administer(room: "den").check(Self.administrator(of: "den"))
        try AdminGrant.manageAssistants.check(Self.token { $0.roomCreate = true })
    }

    @Test("A token that joins rooms cannot manage assistants")
    func assistants() {
        let participant = Self.token {
            $0 = .joining("den")
            $0.roomCreate = true
            $0.roomAdmin = true
        }
        #expect(throws: GrantError.assistantsNotAllowed) { try AdminGrant.manageAssistants.check(participant) }
        #expect(throws: GrantError.assistantsNotAllowed) { try AdminGrant.manageAssistants.check(Self.token { $0.roomAdmin = true }) }
    }

    @Test("Operations need the rights to list and to end all rooms, and none to join one")
    func operations() throws {
        try AdminGrant.operate.check(Self.token { ($0.roomList, $0.roomCreate) = (true, true) })
        for lacking in [\VideoGrant.roomList, \VideoGrant.roomCreate] {
            let token = Self.token {
                ($0.roomList, $0.roomCreate) = (true, true)
                $0[keyPath: lacking] = false
            }
            #expect(throws: GrantError.operationsNotAllowed) { try AdminGrant.operate.check(token) }
        }
        let participant = Self.token {
            $0 = .joining("den")
            ($0.roomList, $0.roomCreate, $0.roomAdmin) = (true, true, true)
        }
        #expect(throws: GrantError.operationsNotAllowed) { try AdminGrant.operate.check(participant) }
    }

    @Test(
        "No right of the server API follows from another",
        arguments: [
            (AdminGrant.listRooms, GrantError.listRoomsNotAllowed), (.createRooms, .createRoomsNotAllowed),
            (.administer(room: "den"), .administrationNotAllowed),
        ])
    func noOther(_ grant: AdminGrant, _ error: GrantError) {
        let all = Self.token {
            $0 = .joining("den")
            $0.roomList = grant != .listRooms
            $0.roomCreate = grant != .createRooms
            $0.roomAdmin = grant != .administer(room: "den")
            $0.roomRecord = true
        }
        #expect(throws: error) { try grant.check(all) }
        #expect(throws: GrantError.noVideoGrant) { try grant.check(AccessToken(identity: "ana", expires: Issuers.now)) }
    }

    @Test("Room administrators cannot administer other rooms", arguments: ["hall", "Den", "den ", "", "de\u{301}n"])
    func otherRoom(_ room: String) {
        let token = Self.administrator(of: "den")
        #expect(throws: GrantError.otherRoom) { try AdminGrant.administer(room: room).check(token) }
        let ofNoRoom = Self.administrator(of: "")
        #expect(throws: GrantError.otherRoom) { try AdminGrant.administer(room: room).check(ofNoRoom) }
    }

    @Test("Rooms are compared by their bytes")
    func composition() {
        let token = Self.administrator(of: "caf\u{E9}")
        #expect(throws: GrantError.otherRoom) { try AdminGrant.administer(room: "cafe\u{301}").check(token) }
    }

    @Test("Missing grants are explained in a sentence", arguments: GrantError.allCases)
    func answer(_ error: GrantError) {
        #expect(error.message.hasSuffix("."))
    }
}
