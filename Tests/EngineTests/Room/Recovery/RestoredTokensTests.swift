import Testing
import Wire

@testable import Engine

/// Resume tokens in a restored room, whose image may be older than the tokens that clients have.
struct RestoredTokensTests {
    private var world = RoomWorld()

    init() {
        world.join("ann")
        world.join("bob")
    }

    /// Loses ann's connection, and resumes it with a token.
    @discardableResult
    private mutating func comeBack(showing token: String, isConfirmed: Bool = true) throws -> Hello {
        let lost = try #require(world.room.handle(of: "ann"))
        world.receive(.connectionLost(lost, .signalClose))
        let back = world.join("ann", resuming: token)
        if isConfirmed { world.receive(.resumeConfirmed(back)) }
        return try #require(world.takeEvents(back).hello)
    }

    /// Whether ann can resume with that token, as things are.
    private func accepts(_ token: String) throws -> Bool {
        var copy = self
        return try copy.comeBack(showing: token).resumed == true
    }

    // MARK: Of the image

    @Test mutating func resumeTokenOfTheOldNodeResumes() throws {
        let sid = world.room.participants[0].sid
        try world.loseNode()
        let hello = try #require(world.takeEvents(world.comeBack("ann")).hello)
        #expect(hello.resumed == true && hello.snapshot == true && hello.participant.sid == sid && hello.resumeToken == "resume-ann-1")
        #expect(world.auditEvents.isEmpty)
    }

    @Test mutating func formerTokenOfTheOldNodeResumesUntilConfirmed() throws {
        try comeBack(showing: "resume-ann", isConfirmed: false)
        var confirmed = self
        let back = try #require(world.room.handle(of: "ann"))
        confirmed.world.receive(.resumeConfirmed(back))
        try world.loseNode()
        #expect(try accepts("resume-ann") && accepts("resume-ann-1"))
        try confirmed.world.loseNode()
        #expect(try !confirmed.accepts("resume-ann") && confirmed.accepts("resume-ann-1"))
    }

    @Test mutating func wrongTokenIsAFreshJoin() throws {
        try world.loseNode()
        let hello = try #require(world.takeEvents(world.join("ann", resuming: "resume-bob")).hello)
        #expect(hello.resumed == false && hello.snapshot == nil)
        #expect(world.room.reconnecting.map(\.identity) == ["bob"])
    }

    // MARK: After the image

    @Test mutating func tokenThatWasAnnouncedAfterTheImageResumes() throws {
        let sid = world.room.participants[0].sid
        let image = try world.image()
        try comeBack(showing: "resume-ann")
        try world.loseNode(image: image)
        let hello = try comeBack(showing: "resume-ann-1", isConfirmed: false)
        #expect(hello.resumed == true && hello.snapshot == true && hello.participant.sid == sid && hello.resumeToken == "resume-ann-2")
    }

    /// The earlier node was lost together with the `hello` that announced it.
    @Test mutating func tokenOfTheImageResumesIfTheNextOneWasLost() throws {
        let image = try world.image()
        try comeBack(showing: "resume-ann", isConfirmed: false)
        try world.loseNode(image: image)
        let hello = try comeBack(showing: "resume-ann")
        #expect(hello.resumed == true && hello.resumeToken == "resume-ann-1")
    }

    @Test mutating func tokenThatFollowedTheImageStaysValidUntilConfirmed() throws {
        try world.loseNode()
        try comeBack(showing: "resume-ann-3", isConfirmed: false)
        #expect(try accepts("resume-ann-3") && accepts("resume-ann-4"))
        let back = try #require(world.room.handle(of: "ann"))
        world.receive(.resumeConfirmed(back))
        #expect(try !accepts("resume-ann-3") && accepts("resume-ann-4"))
    }

    @Test mutating func tokensBeforeTheImageAreRefused() throws {
        for token in ["resume-ann", "resume-ann-1", "resume-ann-2"] { try comeBack(showing: token) }
        try world.loseNode()
        #expect(try !accepts("resume-ann") && !accepts("resume-ann-1") && !accepts("resume-ann-2"))
        #expect(try accepts("resume-ann-3") && accepts("resume-ann-4"))
    }

    @Test mutating func tokensFarAheadAreRefused() throws {
        try world.loseNode()
        #expect(try accepts("resume-ann-\(Limits.resumeTokensAheadMax)") && !accepts("resume-ann-\(Limits.resumeTokensAheadMax + 1)"))
    }

    @Test mutating func tokensOfOtherParticipantsAreRefused() throws {
        try world.loseNode()
        #expect(try !accepts("resume-bob") && !accepts("resume-bob-1"))
    }

    @Test mutating func tokensAheadAreRefusedOnceResumed() throws {
        try world.loseNode()
        try comeBack(showing: "resume-ann-1", isConfirmed: false)
        #expect(try accepts("resume-ann-1") && accepts("resume-ann-2"))
        #expect(try !accepts("resume-ann") && !accepts("resume-ann-3"))
    }

    @Test mutating func newcomersTokensAheadAreRefused() throws {
        try world.loseNode()
        world.receive(.connectionLost(world.join("cid"), .signalClose))
        let back = world.join("cid", resuming: "resume-cid-1")
        #expect(world.takeEvents(back).hello?.resumed == false)
    }

    @Test mutating func secondNodeThatIsLostChangesNothing() throws {
        try world.loseNode()
        let image = try world.image()
        try comeBack(showing: "resume-ann-1")
        try world.loseNode(image: image)
        #expect(try accepts("resume-ann") && accepts("resume-ann-1") && accepts("resume-ann-2"))
    }

    // MARK: Images

    @Test mutating func imageContinuesTheChain() throws {
        for token in ["resume-ann", "resume-ann-1"] { try comeBack(showing: token, isConfirmed: false) }
        let tokens = try world.image().members[0].tokens
        #expect(tokens.current == "resume-ann-2" && tokens.former == "resume-ann-1" && tokens.chain?.number == 2)
        #expect(tokens == world.room.members.participants[0].connection.resumeTokens)
    }

    /// A node of an earlier version writes no chain.
    @Test mutating func imageWithoutAChainKnowsNoTokensAhead() throws {
        let bytes = try world.image().bytes
        let text = String(decoding: bytes, as: UTF8.self)
        let earlier = text.replacing(/,"chain":\{"secret":"\w+","number":\d+\}/, with: "")
        let image = try #require(RoomImage(Array(earlier.utf8)))
        #expect(earlier != text && image.members.allSatisfy { $0.tokens.chain == nil })
        try world.loseNode(image: image)
        #expect(try accepts("resume-ann") && !accepts("resume-ann-1"))
        #expect(try world.image().members[0].tokens == image.members[0].tokens)
        // The resume brings a token of its own, with which a chain begins.
        let (first, second) = (try comeBack(showing: "resume-ann"), try comeBack(showing: "resume-ann"))
        #expect(first.resumed == true && first.resumeToken == "resume-ann")
        #expect(second.resumed == true && second.resumeToken == "resume-ann-1")
    }

    @Test mutating func tokensAndSecretsAreNotPrinted() throws {
        let (image, admission) = (try world.image(), Admission(identity: "ann", resumeSecret: ResumeSecret("hush")))
        let shown: [Any] = [image.members[0].tokens, image, world.room, admission, ResumeSecret("hush")]
        for value in shown {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [dumped, String(describing: value), String(reflecting: value)] {
                #expect(!text.contains("resume-ann") && !text.contains("hush"))
            }
        }
    }
}
