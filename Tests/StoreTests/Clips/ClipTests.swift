import Foundation
import GRDB
import Identity
import Store
import Testing
import Wire

struct ClipTests {
    let world: StoreWorld
    var store: Store { world.store }
    private let limits = ClipLimits()
    private static let hello = SpeechRequest(text: "Hello Ann, you have rare mail.", voice: "nova", provider: "embedded")
    private static let details = ClipDetails(
        mimeType: "audio/ogg", durationMs: 1_250, words: [SpokenWord("Hello", startMs: 0, endMs: 400)])

    init() throws { world = try StoreWorld() }

    private func request(_ text: String) -> SpeechRequest { SpeechRequest(text: text, voice: "nova", provider: "embedded") }

    /// A ready clip whose audio has this many bytes.
    @discardableResult
    private func makeClip(
        _ request: SpeechRequest, of owner: ClipOwner, bytes: Int = 100, limits: ClipLimits = ClipLimits(), at now: WallTime? = nil
    ) async throws -> ClipID {
        let now = now ?? world.now
        let clip = try await store.clips.add(for: request, of: owner, limits: limits, at: now)
        _ = try await store.clips.start(clip.id)
        let audio = [UInt8](repeating: 7, count: bytes)
        #expect(try await store.clips.finish(clip.id, audio: audio, details: Self.details, limits: limits, at: now))
        return clip.id
    }

    @Test func equalRequestsOfOneOwnerShareAClip() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        for owner in [ClipOwner.user(ann.id), .user(bob.id), .service] {
            #expect(try await store.clips.clip(for: Self.hello, of: owner) == nil, "\(owner)")
            let first = try await store.clips.add(for: Self.hello, of: owner, limits: limits, at: world.now)
            #expect(first.status == .queued && first.request == Self.hello)
            #expect(try await store.clips.add(for: Self.hello, of: owner, limits: limits, at: world.now).id == first.id)
            #expect(try await store.clips.clip(for: Self.hello, of: owner) == first)
            var other = Self.hello
            other.voice = "echo"
            #expect(try await store.clips.clip(for: other, of: owner) == nil)
        }
        let shared = try await store.clips.add(for: Self.hello, of: .administrator, limits: limits, at: world.now)
        #expect(try await store.clips.clip(for: Self.hello, of: .service)?.id == shared.id, "services share theirs")

        let queued = try await store.clips.queued()
        #expect(Set(queued.map(\.id)).count == 3 && queued.map(\.users).joined().count == 2 && queued.count { $0.isShared } == 1)
    }

    @Test func anEqualClipsAudioIsFoundWhoeverOwnsIt() async throws {
        let ann = try await world.makeUser()
        #expect(try await store.clips.spokenClip(Self.hello) == nil)
        let clip = try await store.clips.add(for: Self.hello, of: .user(ann.id), limits: limits, at: world.now)
        #expect(try await store.clips.spokenClip(Self.hello) == nil, "it is not ready")
        _ = try await store.clips.start(clip.id)
        try await store.clips.finish(clip.id, audio: [7], details: Self.details, limits: limits, at: world.now)
        let known = try #require(try await store.clips.spokenClip(Self.hello))
        #expect(known.audio == [7] && known.details == Self.details)
        #expect(try await store.clips.spokenClip(request("other")) == nil)
        try await store.accounts.deleteUser(ann.id)
        #expect(try await store.clips.spokenClip(Self.hello) == nil)
    }

    @Test(.onlyOnSQLite) func clipsOfEarlierVersionsAreFoundByServicesOnly() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        let own = try await makeClip(Self.hello, of: .user(ann.id))
        let shared = try await makeClip(request("shared"), of: .service)
        try store.close()
        // As they were when users shared clips: found by the content alone.
        try world.sqliteThief { db in
            try db.execute(
                sql: """
                    UPDATE speech_clips SET lookup = content;
                    INSERT INTO speech_requests VALUES ('\(bob.id)', '\(own)', 0), ('\(bob.id)', '\(shared)', 0);
                    DROP INDEX speech_clips_by_content;
                    ALTER TABLE speech_clips DROP COLUMN content;
                    ALTER TABLE speech_clips DROP COLUMN created_at;
                    DELETE FROM grdb_migrations WHERE identifier IN ('own-clips', 'clip-times');
                    """)
        }
        let reopened = try world.reopen()
        for user in [ann, bob] {
            #expect(try await reopened.clips.clip(own, of: .user(user.id)).status == .ready)
            for text in [Self.hello, request("shared")] { #expect(try await reopened.clips.clip(for: text, of: .user(user.id)) == nil) }
        }
        #expect(try await reopened.clips.list(of: .user(bob.id)).elements.map(\.createdAt) == [nil, nil])
        #expect(try await reopened.clips.clip(for: Self.hello, of: .service) == nil)
        #expect(try await reopened.clips.clip(for: request("shared"), of: .service)?.id == shared)
        #expect(try await reopened.clips.spokenClip(Self.hello) != nil)
        #expect(try await reopened.verify().problems == [])
        try reopened.close()
    }

    @Test func aReadyClipSurvivesARestart() async throws {
        let user = try await world.makeUser()
        let id = try await makeClip(Self.hello, of: .user(user.id))
        try store.close()
        let reopened = try world.reopen()
        let clip = try await reopened.clips.clip(id, of: .user(user.id))
        #expect(clip.status == .ready && clip.details == Self.details && clip.byteCount == 100)
        #expect(try await reopened.clips.audio(id, of: .user(user.id), at: world.now) == [UInt8](repeating: 7, count: 100))
        #expect(try await reopened.clips.queued().isEmpty)
        #expect(try await reopened.verify().problems == [])
        try reopened.close()
    }

    @Test func aClipWhoseProcessEndedInMidGenerationIsStillQueued() async throws {
        let user = try await world.makeUser()
        let id = try await store.clips.add(for: Self.hello, of: .user(user.id), limits: limits, at: world.now).id
        let shared = try await store.clips.add(for: Self.hello, of: .service, limits: limits, at: world.now + .seconds(1)).id
        #expect(try await store.clips.start(id) != nil)
        try store.close()
        let reopened = try world.reopen()
        let queued = try await reopened.clips.queued()
        #expect(queued.map(\.id) == [id, shared] && queued.map(\.users) == [[user.id], []] && queued.map(\.isShared) == [false, true])
        #expect(try await reopened.clips.start(id) == Self.hello)
        try reopened.close()
    }

    @Test func textWordsAndAudioAreEncrypted() async throws {
        try await makeClip(Self.hello, of: .service)
        try store.close()
        for secret in [Data("rare mail".utf8), Data("Hello".utf8), Data(repeating: 7, count: 20)] {
            #expect(try world.files(with: secret) == [])
        }
    }

    @Test func onlyRequestersSeeAClip() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        let own = try await makeClip(Self.hello, of: .user(ann.id))
        let shared = try await makeClip(request("shared"), of: .service)
        for (id, owner) in [(own, ClipOwner.user(bob.id)), (own, .service), (shared, .user(ann.id))] {
            await #expect(throws: StoreError.notFound) { try await store.clips.clip(id, of: owner) }
            await #expect(throws: StoreError.notFound) { try await store.clips.audio(id, of: owner, at: world.now) }
            await #expect(throws: StoreError.notFound) { try await store.clips.forget(id, of: owner) }
        }
        for id in [own, shared] { #expect(try await store.clips.clip(id, of: .administrator).id == id) }
    }

    @Test func clipsAreListedNewestFirstForTheirOwner() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        var (own, shared) = ([ClipID](), [ClipID]())
        for number in 0..<3 {
            let now = world.now + .seconds(number)
            own.insert(try await makeClip(request("\(number)"), of: .user(ann.id), at: now), at: 0)
            shared.insert(try await makeClip(request("\(number)"), of: .service, at: now), at: 0)
        }
        let page = try await store.clips.list(of: .user(ann.id), limit: 2)
        #expect(page.elements.map(\.id) == Array(own.prefix(2)) && page.elements[0].createdAt == world.now + .seconds(2))
        let rest = try await store.clips.list(of: .user(ann.id), after: page.next, limit: 2)
        #expect(rest.elements.map(\.id) == [own[2]] && rest.next == nil)
        for owner in [ClipOwner.service, .administrator] { #expect(try await store.clips.list(of: owner).elements.map(\.id) == shared) }
        #expect(try await store.clips.list(of: .user(bob.id)).elements.isEmpty)
        // A repeated request for a failed clip keeps its place in the list.
        let failed = try await store.clips.add(for: request("x"), of: .user(bob.id), limits: limits, at: world.now)
        try await store.clips.fail(failed.id, reason: "no model")
        let again = try await store.clips.add(for: request("x"), of: .user(bob.id), limits: limits, at: world.now + .seconds(9))
        #expect(again.createdAt == world.now)
    }

    @Test func aClipIsDeletedWithItsRequester() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        var ids: [ClipID] = []
        for owner in [ClipOwner.user(ann.id), .user(bob.id), .service] { ids.append(try await makeClip(Self.hello, of: owner)) }

        try await store.accounts.deleteUser(ann.id)
        await #expect(throws: StoreError.notFound) { try await store.clips.clip(ids[0], of: .administrator) }
        for id in ids[1...] { #expect(try await store.clips.clip(id, of: .administrator).status == .ready) }
        try await store.clips.forget(ids[1], of: .user(bob.id))
        try await store.clips.forget(ids[2], of: .service)
        let left = try ["speech_clips", "speech_audio", "speech_requests"].map { try world.count("SELECT count(*) FROM \($0)") }
        #expect(left == [0, 0, 0])
        // A deleted user gets nothing new.
        await #expect(throws: StoreError.notFound) {
            try await store.clips.add(for: Self.hello, of: .user(ann.id), limits: limits, at: world.now)
        }
        #expect(try await store.clips.clip(for: Self.hello, of: .user(ann.id)) == nil)
    }

    @Test func aClipDeletedWhileItIsGeneratedIsNotStored() async throws {
        let user = try await world.makeUser()
        let clip = try await store.clips.add(for: Self.hello, of: .user(user.id), limits: limits, at: world.now)
        #expect(try await store.clips.start(clip.id) == Self.hello)
        try await store.clips.forget(clip.id, of: .user(user.id))
        #expect(try await store.clips.finish(clip.id, audio: [1], details: Self.details, limits: limits, at: world.now) == false)
        #expect(try await store.clips.start(clip.id) == nil)
    }

    @Test func aFailedClipIsQueuedAgainByTheNextRequest() async throws {
        let id = try await store.clips.add(for: Self.hello, of: .service, limits: limits, at: world.now).id
        try await store.clips.fail(id, reason: "no model")
        let failed = try await store.clips.clip(id, of: .service)
        #expect(failed.status == .failed && failed.failure == "no model")
        #expect(try await store.clips.start(id) == nil)
        let again = try await store.clips.add(for: Self.hello, of: .service, limits: limits, at: world.now)
        #expect(again.id == id && again.status == .queued && again.failure == nil)
        #expect(try await store.clips.start(id) == Self.hello)
    }

    /// Each start is counted before the generator runs, so a text that crashes the process ends.
    @Test func aClipThatIsStartedTooOftenHasFailed() async throws {
        let id = try await store.clips.add(for: Self.hello, of: .service, limits: limits, at: world.now).id
        for _ in 0..<StoreLimits.clipAttemptsMax { #expect(try await store.clips.start(id) != nil) }
        #expect(try await store.clips.start(id) == nil)
        #expect(try await store.clips.clip(id, of: .service).status == .failed)
        #expect(try await store.clips.queued().isEmpty)
    }

    @Test func leastRecentlyUsedClipsAreEvictedByCount() async throws {
        let limits = ClipLimits(clipsMax: 3)
        var ids: [ClipID] = []
        for number in 0..<3 {
            ids.append(try await makeClip(request("\(number)"), of: .service, limits: limits, at: world.now + .seconds(number)))
        }
        // Reading the oldest keeps it.
        _ = try await store.clips.audio(ids[0], of: .service, at: world.now + .seconds(3_600))
        let new = try await makeClip(request("new"), of: .service, limits: limits, at: world.now + .seconds(3_601))
        await #expect(throws: StoreError.notFound) { try await store.clips.clip(ids[1], of: .service) }
        for id in [ids[0], ids[2], new] { #expect(try await store.clips.clip(id, of: .service).status == .ready) }
    }

    @Test func clipsAreEvictedByBytesButNeverWhileTheyAreQueued() async throws {
        let limits = ClipLimits(bytesMax: 250)
        let queued = try await store.clips.add(for: request("queued"), of: .service, limits: limits, at: world.now)
        let first = try await makeClip(request("first"), of: .service, limits: limits, at: world.now + .seconds(1))
        let second = try await makeClip(request("second"), of: .service, limits: limits, at: world.now + .seconds(2))
        let third = try await makeClip(request("third"), of: .service, limits: limits, at: world.now + .seconds(3))
        await #expect(throws: StoreError.notFound) { try await store.clips.clip(first, of: .service) }
        for id in [queued.id, second, third] { _ = try await store.clips.clip(id, of: .service) }
        // One that is larger than everything stays alone.
        let large = try await makeClip(request("large"), of: .service, bytes: 1_000, limits: limits, at: world.now + .seconds(4))
        #expect(try await store.clips.clip(large, of: .service).byteCount == 1_000)
        await #expect(throws: StoreError.notFound) { try await store.clips.clip(third, of: .service) }
    }

    @Test func aUserKeepsALimitedNumberOfClips() async throws {
        let limits = ClipLimits(clipsPerUserMax: 2)
        let user = try await world.makeUser()
        var ids: [ClipID] = []
        for number in 0..<3 {
            ids.append(
                try await makeClip(request("\(number)"), of: .user(user.id), limits: limits, at: world.now + .seconds(number)))
        }
        await #expect(throws: StoreError.notFound) { try await store.clips.clip(ids[0], of: .administrator) }
        for id in ids[1...] { _ = try await store.clips.clip(id, of: .user(user.id)) }
    }

    @Test func unusedClipsExpire() async throws {
        let id = try await makeClip(Self.hello, of: .service)
        try await store.expire(at: world.now + StoreLimits.clipsKept - .seconds(1))
        #expect(try await store.clips.clip(id, of: .service).status == .ready)
        try await store.expire(at: world.now + StoreLimits.clipsKept)
        await #expect(throws: StoreError.notFound) { try await store.clips.clip(id, of: .administrator) }
    }

    @Test func damagedAudioIsFound() async throws {
        try await makeClip(Self.hello, of: .service)
        try world.tamper("UPDATE speech_audio SET sealed = ?", Data([1]))
        #expect(try await store.verify().problems.count == 1)
    }
}
