import Testing
import Wire

@testable import Engine

/// Images of rooms.
struct RoomImageTests {
    /// A room in which everything has happened that an image contains.
    private static func busyRoom() throws -> RoomWorld {
        var settings = RoomSettings(
            RoomOpening(emptyTimeout: .seconds(7), metadata: "m", agents: [AgentRequest(assistant: "a")]), over: .init())
        settings.reporting = .eventsAndText
        settings.maxParticipants = 8
        var world = RoomWorld(settings)
        let ann = world.join("ann", permission: Permission(canUpdateMetadata: true), isRoomAdmin: true, attributes: ["k": "v"])
        let bob = world.join("bob", autoSubscribe: false, receivesText: false)
        world.join("spy", permission: Permission(hidden: true))
        let helper = world.join("helper", kind: .agent)
        let microphone = try world.publish(ann)
        let (other, silent) = (try world.publish(bob), try world.publish(bob))
        world.send(bob, .unpublish(silent.sid))
        let speech = try world.publish(helper, PublishTrack(source: .assistant, mode: .ahead))
        world.send(bob, .mute(other.sid, muted: true))
        world.send(ann, .subscribe(other.sid, subscribed: false))
        world.send(bob, .subscribe(microphone.sid, subscribed: true))
        world.send(ann, .updateParticipant(ParticipantUpdate(name: "Ann \"the\" first\u{0}", attributes: ["z": "é"])))
        world.receive(.administered(.muteParticipant("bob", true)))
        world.receive(.administered(.updateMetadata("new")))
        world.receive(.administered(.agentWaiting("late", .busy)))
        world.receive(.administered(.agentExpected("late", true)))
        world.receive(.administered(.startRecording))
        world.send(helper, .segment(TranscriptSegment(id: "s1", rev: 3, role: .assistant, track: speech.sid, text: "one two", final: true)))
        let words = [TranscriptWord(text: "hi", startTs: 1, endTs: 2, confidence: 0.5)]
        world.send(ann, .segment(TranscriptSegment(id: "s2", role: .user, text: "hi", language: "en", words: words)))
        world.receive(.playout(speech.sid, .started(epoch: 0, at: MediaTime(ticks: 9_000), playsAt: world.now)))
        world.send(helper, .agentState(.speaking))
        world.pass(.milliseconds(400))
        let progress = PlayoutProgress(track: speech.sid, epoch: 0, playedTs: 9_000 + 14_400, bufferedMs: 0)
        world.send(ann, .playoutProgress(progress))
        world.send(helper, .playoutMark(PlayoutMark(track: speech.sid, ts: 900_000, name: "m1")))
        world.send(ann, .playoutClear(speech.sid, reason: "barge-in"))
        world.receive(.playout(speech.sid, .started(epoch: 1, at: MediaTime(ticks: 90_000), playsAt: world.now)))
        world.send(helper, .playoutMark(PlayoutMark(track: speech.sid, ts: 990_000, name: "m2")))
        world.receive(.talkStarted(microphone.sid, at: MediaTime(ticks: 5)))
        for _ in 0..<3 {
            world.pass(.milliseconds(400))
            let loud = TrackMeasurement(track: microphone.sid, windowMilliseconds: 400, activeMilliseconds: 400, loudestLevel: 10)
            world.receive(.measured([loud]))
        }
        return world
    }

    @Test func restoredRoomHasTheSameImage() throws {
        var world = try Self.busyRoom()
        let image = try world.image()
        #expect(image.members.count == 4 && image.tracks.count == 3 && image.transcript.count == 2 && image.speakers.count == 1)
        try world.loseNode(isReported: false)
        #expect(world.room.image() == image)
    }

    @Test func imagePassesThroughItsBytes() throws {
        let world = try Self.busyRoom()
        var image = world.room.image(at: world.now)
        #expect(RoomImage(image.bytes) == image && image.takenAt == nil)
        image.takenAt = 1_700_000_000_123
        let playout = try #require(image.tracks.firstIndex { $0.playout?.utterance != nil })
        image.tracks[playout].playout?.utterance?.received = 480_000
        image.tracks[playout].playout?.utterance?.later = 96_000
        #expect(RoomImage(image.bytes) == image)
    }

    @Test func imageThatIsTooLongForgetsItsOldestSegments() throws {
        var image = try Self.busyRoom().image()
        let segment = try #require(image.transcript.last)
        image.transcript += (0..<40).map { number in
            var later = segment
            (later.segment.id, later.segment.text) = ("s\(number)", String(repeating: "é\"", count: 200 * number))
            return later
        }
        let length = image.bytes.count
        #expect(image.bytes(max: length) == image.bytes)
        for max in stride(from: 0, to: length, by: 997) {
            let bytes = image.bytes(max: max)
            let shorter = try #require(RoomImage(bytes))
            #expect(bytes.count <= max || shorter.transcript.isEmpty)
            #expect(shorter.transcript == image.transcript.suffix(shorter.transcript.count))
            if let next = image.transcript.dropLast(shorter.transcript.count).last {
                #expect(bytes.count + JSON.text(next).count + 1 >= max, "no more is forgotten than must be")
            }
            var restored = shorter
            restored.transcript = image.transcript
            #expect(restored == image)
        }
    }

    @Test func gatewaysOwnSettingsAreNotRestored() throws {
        var world = try Self.busyRoom()
        try world.loseNode(over: RoomSettings(emptyTimeout: .seconds(1), resumeWindow: .seconds(3), reporting: .nothing))
        #expect(world.auditEvents.isEmpty)
        #expect(world.room.snapshot.emptyTimeout == .seconds(7))
        world.pass(.seconds(3))
        #expect(world.room.isEmpty)
    }

    @Test func fieldsOfLaterVersionsAreIgnored() throws {
        let image = try Self.busyRoom().image()
        let text = String(decoding: image.bytes, as: UTF8.self)
        let later = text.replacing("{\"sid\":", with: "{\"later\":[{}],\"sid\":")
        #expect(later != text && RoomImage(Array(later.utf8)) == image)
    }

    @Test func otherFormatsAreRejected() throws {
        var image = try Self.busyRoom().image()
        image.version = RoomImage.version + 1
        #expect(RoomImage(image.bytes) == nil)
        #expect(RoomImage([]) == nil && RoomImage(Array("{}".utf8)) == nil && RoomImage(Array("null".utf8)) == nil)
    }

    @Test func contradictoryImagesAreRejected() throws {
        let image = try Self.busyRoom().image()
        let changes: [(inout RoomImage) -> Void] = [
            { $0.members.append($0.members[0]) }, { $0.members.removeFirst() }, { $0.tracks.append($0.tracks[0]) },
            { $0.tracks[0].info.alias = $0.tracks[1].info.alias }, { $0.tracks[0].info.alias = TrackAlias(0) },
            { $0.tracks[2].playout = nil }, { $0.tracks[0].playout = $0.tracks[2].playout },
            { $0.tracks[2].playout?.utterance?.heard = -1 },
            { $0.settings.emptyTimeoutMs = -1 },
            { $0.transcript = Array(repeating: $0.transcript[0], count: Limits.segmentsKeptMax + 1) },
        ]
        for (index, change) in changes.enumerated() {
            var changed = image
            change(&changed)
            #expect(RoomImage(changed.bytes) == nil, "change \(index)")
        }
    }

    @Test func truncatedImagesAreRejected() throws {
        let bytes = try Self.busyRoom().image().bytes
        for length in stride(from: 0, to: bytes.count, by: 7) { #expect(RoomImage(Array(bytes[..<length])) == nil, "\(length) bytes") }
    }

    /// An altered name or number may still be an image. The room that comes from it must work.
    @Test func alteredImagesNeverCrash() throws {
        let world = try Self.busyRoom()
        let bytes = try world.image().bytes
        var random = SplitMix64(seed: 5)
        var rejected = 0
        for _ in 0..<1_000 {
            var altered = bytes
            for _ in 0...random.below(3) { altered[random.below(altered.count)] = UInt8(random.below(256)) }
            guard let image = RoomImage(altered) else {
                rejected += 1
                continue
            }
            Self.useRoom(of: image, &random)
        }
        #expect(rejected > 100)
    }

    /// Digits of numbers become others, which JSON allows.
    @Test func imagesWithOtherNumbersNeverCrash() throws {
        let world = try Self.busyRoom()
        let bytes = try world.image().bytes
        let digits = bytes.indices.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[$0]) }
        var random = SplitMix64(seed: 6)
        for _ in 0..<1_000 {
            var altered = bytes
            let index = digits[random.below(digits.count)]
            altered.replaceSubrange(
                index...index, with: Array(["-1", "0", "9", "99999999999999999", "4294967295", "2147483647"][random.below(6)].utf8))
            if let image = RoomImage(altered) { Self.useRoom(of: image, &random) }
        }
    }

    private static func useRoom(of image: RoomImage, _ random: inout SplitMix64) {
        var now = Instant(nanoseconds: 1_000)
        let handles = image.members.indices.map { ParticipantHandle(shard: 0, slot: UInt32($0), generation: 1) }
        var room = Room(
            restoring: image, over: RoomSettings(), seed: 1, resumeTokens: RoomWorld.resumeToken, handles: handles,
            reason: .nodeLost, at: now)
        var effects: [Room.Effect] = []
        room.handle(.restored, at: now, into: &effects)
        for (slot, member) in image.members.enumerated() {
            let handle = ParticipantHandle(shard: 1, slot: UInt32(slot), generation: 1)
            let stay = member.stay
            let admission = Admission(
                identity: stay.identity, kind: stay.kind, sessionID: stay.session, receivesText: stay.receivesText, resumeToken: "new",
                resuming: member.tokens.current)
            if random.below(2) == 0 { room.handle(.joined(handle, admission), at: now, into: &effects) }
        }
        for _ in 0..<20 {
            guard let deadline = room.deadline else { break }
            now = max(now, deadline)
            room.handle(.deadlinePassed, at: now, into: &effects)
        }
        for effect in effects { if case .send(let event, _) = effect { _ = EncodedEvent(event) } }
    }
}
