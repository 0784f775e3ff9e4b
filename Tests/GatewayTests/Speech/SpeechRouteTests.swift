import Audio
import Backend
import Foundation
import Gateway
import HTTPServer
import Identity
import OggOpus
import Store
import Testing
import Wire

/// Speech clips over HTTP, with a generator that makes tones.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct SpeechRouteTests {
    private let tones = ToneGenerator()
    private let backend: TestBackend
    private let ann: AppUser

    init() throws {
        var limits = SpeechLimits()
        limits.jobsPerRequesterMax = 3
        limits.backoff = Backoff(.exponential, unit: .milliseconds(20), delayMax: .milliseconds(100))
        backend = try TestBackend(assistants: [AssistantDefinition(id: "shop", voice: "onyx")], speech: tones, speechLimits: limits)
        ann = try AppUser(backend)
    }

    private func speak(_ text: String, _ user: AppUser? = nil, more: [String: String] = [:]) throws -> HTTPAnswer {
        try (user ?? ann).ask("POST", "/v1/speech", ["text": text].merging(more) { $1 })
    }

    private func state(_ id: String, _ user: AppUser? = nil) throws -> [String: Any] {
        let answer = try (user ?? ann).ask("GET", "/v1/speech/\(id)")
        guard let json = answer.json, answer.status == 200 else { throw DidNotHappen(what: "a clip: \(answer.status) \(answer.text)") }
        return json
    }

    /// The id of an accepted job.
    private func job(_ text: String, _ user: AppUser? = nil) throws -> String {
        let answer = try speak(text, user)
        guard answer.status == 202, let id = answer.json?["id"] as? String else { throw DidNotHappen(what: "a job: \(answer.text)") }
        return id
    }

    private func reach(_ status: String, of id: String, _ user: AppUser? = nil) throws {
        try Patience.until("the clip is \(status)") { try state(id, user)["status"] as? String == status }
    }

    private func serviceUser(_ token: String) -> AppUser { AppUser(backend, token: token) }

    @Test func aTextIsGeneratedOnceAndDownloaded() throws {
        let text = "Hello there Ann"
        let id = try job(text)
        try reach("ready", of: id)
        let again = try speak(text)
        #expect(again.status == 200 && again.json?["id"] as? String == id)
        #expect(again.json?["voice"] as? String == "alloy" && again.json?["provider"] as? String == "embedded")
        #expect(again.json?["mime_type"] as? String == "audio/ogg" && again.json?["progress"] as? Int == 100)
        #expect(again.json?["duration_ms"] as? Int == ToneGenerator.milliseconds(of: text))
        let words = try #require(again.json?["words"] as? [[String: Any]])
        #expect(words.compactMap { $0["text"] as? String } == ["Hello", "there", "Ann"])
        #expect(words[1]["start_ms"] as? Int == 120 && words[1]["end_ms"] as? Int == 220)
        #expect(tones.texts == [text])
        // Another voice is another clip.
        #expect(try speak(text, more: ["voice": "echo"]).status == 202)

        let answer = try ann.ask("GET", "/v1/speech/\(id)/audio")
        #expect(answer.status == 200 && answer.fields["content-type"] == "audio/ogg")
        try expectTone(answer.body, milliseconds: ToneGenerator.milliseconds(of: text))
    }

    /// The file plays for exactly this time, and is a tone from beginning to end.
    private func expectTone(_ file: [UInt8], milliseconds: Int) throws {
        let played = try OggOpusReader.decodePCM(file).samples
        #expect(played.count == milliseconds * 48)
        for start in stride(from: 0, to: played.count - 480, by: 480) {
            let peak = played[start..<start + 480].map { abs(Int($0)) }.max() ?? 0
            #expect(peak > 5_000, "silence at \(start / 48) ms")
        }
    }

    @Test func identicalConcurrentRequestsShareOneJob() throws {
        tones.hold()
        let services = [serviceUser(TestToken.assistant("shop")), serviceUser(TestToken.assistant("guide"))]
        for users in [[ann, ann], services] {
            let ids = try users.map { try job("the same", $0) }
            #expect(Set(ids).count == 1)
            try Patience.until("it is generated") { try state(ids[0], users[0])["status"] as? String == "generating" }
        }
        // A clip has this status in the store before its generator is called.
        try Patience.until("both are generated") { tones.texts.count >= 2 }
        #expect(tones.texts == ["the same", "the same"], "one for Ann, and one for the assistants")
        tones.release()
    }

    /// Neither by its status, its id and its progress, nor obviously by its time.
    @Test(arguments: [true, false]) func noAnswerTellsWhetherAnotherUserHasAsked(_ wasService: Bool) throws {
        tones.hold(at: 40)
        let (bob, text) = (try AppUser(backend, "bob@example.org"), "are you ill")
        let first = wasService ? serviceUser(TestToken.assistant("shop")) : ann
        let known = try job(text, first)
        try Patience.until("it runs") { try state(known, first)["progress"] as? Int == 36 }
        let (unready, meanwhile) = (try speak(text, bob), try speak("are you well", bob))
        func fields(_ answer: HTTPAnswer) -> [String: String] { (answer.json ?? [:]).filter { $0.key != "id" }.mapValues { "\($0)" } }
        #expect(unready.status == 202 && unready.json?["id"] as? String != known && fields(unready)["progress"] == "0")
        #expect(meanwhile.status == 202 && fields(meanwhile)["progress"] == "0")
        #expect(try bob.ask("DELETE", "/v1/speech/\(unready.json?["id"] ?? "")").status == 204)
        Thread.sleep(forTimeInterval: 0.5)
        tones.release()
        try reach("ready", of: known, first)
        try reach("ready", of: try #require(meanwhile.json?["id"] as? String), bob)
        let spoken = tones.texts.count { $0 == text }

        let began = ContinuousClock.now
        let (again, other) = (try speak(text, bob), try speak("are you tired", bob))
        #expect(again.status == 202 && other.status == 202)
        #expect(fields(again).keys == fields(other).keys && fields(again)["progress"] == "0")
        let id = try #require(again.json?["id"] as? String)
        try reach("ready", of: id, bob)
        #expect(ContinuousClock.now - began > .milliseconds(400), "it takes as long as it took")
        #expect(tones.texts.count { $0 == text } == spoken, "and costs nothing")
        #expect(try bob.ask("GET", "/v1/speech/\(id)/audio").body == first.ask("GET", "/v1/speech/\(known)/audio").body)
        #expect(try speak(text, bob).status == 200, "this user has asked before")
    }

    @Test func progressIsPolledAndSentOnTheRequestersChannel() throws {
        tones.hold(at: 40)
        let channel = try backend.gateway.webSocket(.upgrade(token: ann.accessToken, path: "/v1/events"))
        guard case .text = try channel.next() else { throw DidNotHappen(what: "hello") }
        let id = try job("a long text")
        try Patience.until("progress") { try state(id)["progress"] as? Int == 36 }
        #expect(try state(id)["status"] as? String == "generating")
        #expect(try ann.ask("GET", "/v1/speech/\(id)/audio").code == "clip_not_ready")
        tones.release()
        var events: [String] = []
        while events.last?.contains("speech.ready") != true {
            guard case .text(let text) = try channel.next() else { continue }
            events.append(String(decoding: text, as: UTF8.self))
        }
        #expect(events.first == #"{"type":"speech.progress","data":{"id":"\#(id)","progress":36}}"#)
        #expect(events.last == #"{"type":"speech.ready","data":{"id":"\#(id)"}}"#)
        #expect(try state(id)["status"] as? String == "ready")
    }

    @Test func assistantsAndAdministratorsAskToo() throws {
        let assistant = serviceUser(TestToken.assistant("shop"))
        let channel = try backend.gateway.webSocket(.upgrade(token: TestToken.assistant("shop"), path: "/v1/events"))
        guard case .text = try channel.next() else { throw DidNotHappen(what: "hello") }
        let answer = try speak("a greeting", assistant, more: ["assistant": "shop"])
        #expect(answer.json?["voice"] as? String == "onyx")
        let id = try #require(answer.json?["id"] as? String)
        var last = ""
        while !last.contains("speech.ready") {
            if case .text(let text) = try channel.next() { last = String(decoding: text, as: UTF8.self) }
        }
        let administrator = serviceUser(TestToken.administering { $0.roomCreate = true })
        #expect(try speak("a greeting", administrator, more: ["voice": "onyx"]).status == 200)
        #expect(try state(id, administrator)["status"] as? String == "ready")
        // A user has clips of its own.
        #expect(try ann.ask("GET", "/v1/speech/\(id)").status == 404)
        #expect(try speak("a greeting", more: ["voice": "onyx"]).status == 202)
        #expect(try ann.ask("GET", "/v1/speech/\(id)").status == 404)
        // An administrator deletes it for all services.
        #expect(try administrator.ask("DELETE", "/v1/speech/\(id)").status == 204)
        #expect(try assistant.ask("GET", "/v1/speech/\(id)").status == 404)
        let participant = serviceUser(TestToken.joining("r", as: "eve"))
        #expect(try speak("hello", participant).status == 403)
        #expect(try speak("hello", serviceUser("")).status == 401)
    }

    @Test func cancellingKeepsTheJobForOthersAndEndsItWithTheLast() throws {
        tones.hold()
        let (shop, guide) = (serviceUser(TestToken.assistant("shop")), serviceUser(TestToken.assistant("guide")))
        let id = try job("shared", shop)
        #expect(try job("shared", guide) == id)
        try Patience.until("it runs") { tones.texts == ["shared"] }
        #expect(try shop.ask("DELETE", "/v1/speech/\(id)").status == 204)
        #expect(try state(id, guide)["status"] as? String == "generating")
        #expect(tones.cancelledCount == 0)
        #expect(try guide.ask("DELETE", "/v1/speech/\(id)").status == 204)
        try Patience.until("the generation stops") { tones.cancelledCount == 1 }
        #expect(try guide.ask("DELETE", "/v1/speech/\(id)").status == 404)
        let own = try job("Ann's")
        #expect(try ann.ask("DELETE", "/v1/speech/\(own)").status == 204)
        #expect(try state(own)["status"] as? String == "cancelled")

        tones.release()
        let again = try job("shared")
        try reach("ready", of: again)
        #expect(tones.texts.count { $0 == "shared" } == 2)
        #expect(try ann.ask("DELETE", "/v1/speech/\(again)").status == 204)
        #expect(try ann.ask("GET", "/v1/speech/\(again)").status == 404)
    }

    @Test func aPassingFailureIsRepeated() throws {
        tones.fail(with: SpeechGenerationError("busy", isRetryable: true), DidNotHappen(what: "anything"))
        let id = try job("third time lucky")
        try reach("ready", of: id)
        #expect(tones.texts.count == 3)
    }

    @Test func aFailureIsReportedAndTheNextRequestTriesAgain() throws {
        tones.fail(with: SpeechGenerationError("no such voice", isRetryable: false))
        let id = try job("once")
        try reach("failed", of: id)
        #expect(try state(id)["message"] as? String == "no such voice")
        #expect(tones.texts == ["once"])
        #expect(try job("once") == id)
        try reach("ready", of: id)
        #expect(try state(id)["message"] == nil)
    }

    @Test func attemptsAreBounded() throws {
        let busy = SpeechGenerationError("busy", isRetryable: true)
        tones.fail(with: busy, busy, busy, busy)
        try reach("failed", of: job("never"))
        #expect(tones.texts.count == 3)
    }

    @Test func audioThatIsNoClipIsAFailure() throws {
        struct Nothing: SpeechGenerator {
            let providers = [SpeechProvider.embedded]

            func generate(_: String, voice: String, provider: String, progress: @escaping @Sendable (Int) -> Void) -> GeneratedSpeech {
                GeneratedSpeech(samples: voice == "echo" ? [1, 2] : [], sampleRate: voice == "echo" ? 7 : 16_000)
            }
        }
        let other = try TestBackend(speech: Nothing())
        let eve = try AppUser(other, "eve@example.org")
        for voice in ["echo", "nova"] {
            let id = try #require(try speak("x", eve, more: ["voice": voice]).json?["id"] as? String)
            try reach("failed", of: id, eve)
        }
    }

    @Test(arguments: [
        (["text": ""], 400), (["text": " …! "], 400), (["text": String(repeating: "x", count: 4_097)], 400),
        (["text": String(repeating: "ü", count: 2_049)], 400), (["text": "x", "voice": "robot"], 400),
        (["text": "x", "voice": "a b"], 400),
        (["text": "x", "provider": "../etc"], 400), (["text": "x", "assistant": "nobody"], 404), (["voice": "nova"], 400),
    ])
    func whatCannotBeSpokenIsRefused(body: [String: String], status: Int) throws {
        let answer = try ann.ask("POST", "/v1/speech", body)
        #expect(answer.status == status, "\(answer.text)")
        #expect(tones.texts.isEmpty)
    }

    @Test func aRequesterHasALimitOfJobs() throws {
        tones.hold()
        let ids = try (0..<3).map { try job("text \($0)") }
        let answer = try speak("one more")
        #expect(answer.status == 429 && answer.code == "too_many_clips" && answer.fields["retry-after"] != nil)
        let bob = try AppUser(backend, "bob@example.org")
        _ = try job("text of Bob", bob)
        tones.release()
        for id in ids { try reach("ready", of: id) }
        // A clip is ready a moment before its job is over.
        try Patience.until("there is room for one more") { try speak("one more").status == 202 }
    }

    @Test func clipsSurviveARestartAndInterruptedJobsRunAgain() async throws {
        let ready = try job("kept")
        try reach("ready", of: ready)
        tones.hold()
        let interrupted = try job("interrupted")
        try Patience.until("it runs") { tones.texts.contains("interrupted") }
        let token = ann.accessToken
        let next = try await backend.restarted()
        #expect(tones.cancelledCount == 1)
        tones.release()
        let again = AppUser(next, token: token)
        #expect(try state(ready, again)["status"] as? String == "ready")
        try reach("ready", of: interrupted, again)
        #expect(tones.texts == ["kept", "interrupted", "interrupted"])
        let audio = try again.ask("GET", "/v1/speech/\(interrupted)/audio")
        try expectTone(audio.body, milliseconds: ToneGenerator.milliseconds(of: "interrupted"))
    }

    @Test func nothingOfAClipIsReadableOnTheDisk() throws {
        let id = try job("Dear Ann, the treasure is safe")
        try reach("ready", of: id)
        for text in ["treasure", "OggS", "OpusHead"] { #expect(try !backend.place.holds(text)) }
    }

    @Test func anAccountsClipsAreDeletedWithIt() throws {
        let id = try job("only for Ann")
        try reach("ready", of: id)
        #expect(try ann.ask("DELETE", "/v1/users/me").status == 204)
        let administrator = serviceUser(TestToken.administering { $0.roomCreate = true })
        let answer = try administrator.ask("GET", "/v1/speech/\(id)")
        #expect(answer.status == 404, "\(answer.status) \(answer.text)")
    }

    @Test func anAdministratorPlaysNothingIntoACallOfUsers() throws {
        let bob = try AppUser(backend, "bob@example.org")
        #expect(try bob.ask("PATCH", "/v1/users/me", ["settings": ["reachable_by": "anyone"]]).status == 200)
        let call = try ann.ask("POST", "/v1/calls", ["to": [bob.id]])
        let room = try #require((call.json?["call"] as? [String: Any])?["room"] as? String, "\(call.text)")
        let phone = try Caller(
            on: backend.gateway.webSocket(.upgrade(token: call.json?["livekit_token"] as? String ?? "")), goingOnAfter: 0)
        let administrator = serviceUser(TestToken.administering { $0.roomCreate = true })
        let id = try job("for everybody", administrator)
        try reach("ready", of: id, administrator)
        #expect(try administrator.ask("POST", "/v1/speech/\(id)/play", ["room": room]).code == "room_not_found")
        #expect(tones.plays.isEmpty)
        withExtendedLifetime(phone) {}
    }

    @Test func aClipIsPlayedIntoARoomThatTheRequesterMayUse() throws {
        func play(_ id: String, in room: String, by user: AppUser) throws -> HTTPAnswer {
            try user.ask("POST", "/v1/speech/\(id)/play", ["room": room])
        }
        let (assistant, administrator) = (
            serviceUser(TestToken.assistant("shop")), serviceUser(TestToken.administering { $0.roomCreate = true })
        )
        var ids: [String] = []
        for user in [ann, assistant] { ids.append(try job("for \(ids.count)", user)) }
        for (id, user) in zip(ids, [ann, assistant]) { try reach("ready", of: id, user) }
        let started = try ann.start()
        #expect(try play(ids[0], in: started.room, by: ann).code == "room_not_found", "nobody is in it")
        let phone = try started.join(backend.gateway)
        #expect(try play(ids[0], in: started.room, by: ann).status == 204)
        let play1 = try #require(tones.plays.first)
        #expect(try play1.file == ann.ask("GET", "/v1/speech/\(ids[0])/audio").body)
        #expect(play1.token.video?.room == started.room && play1.token.kind == .agent && play1.token.identity.hasPrefix("speech:"))

        // An assistant plays where it is, an administrator everywhere, a user in no other room.
        let other = try Caller(backend.gateway, room: "other", identity: "eve")
        #expect(try play(ids[0], in: "other", by: ann).code == "room_not_found")
        #expect(try play(ids[1], in: "other", by: assistant).code == "room_not_found")
        let agent = try Caller(backend.gateway, room: "other", identity: "assistant:shop")
        #expect(try play(ids[1], in: "other", by: assistant).status == 204)
        #expect(try play(ids[0], in: "other", by: administrator).status == 204)
        #expect(try play(ids[1], in: "other", by: ann).status == 404)
        let closed = try Caller(backend.gateway, room: "closed to clips", identity: "eve")
        #expect(try play(ids[0], in: "closed to clips", by: administrator).code == "clip_not_played")
        withExtendedLifetime((phone, other, agent, closed)) {}
    }

    @Test func theRoutesAreInTheOpenAPIDocument() throws {
        let document = try JSONValue(parsing: try #require(try backend.gateway.get("/openapi.json")).body)
        for (path, method) in [
            ("/v1/speech", "post"), ("/v1/speech", "get"), ("/v1/speech/providers", "get"), ("/v1/speech/lookup", "post"),
            ("/v1/speech/{id}", "get"), ("/v1/speech/{id}", "delete"), ("/v1/speech/{id}/audio", "get"),
            ("/v1/speech/{id}/play", "post"), ("/v1/assistants", "get"), ("/v1/assistants/{id}", "get"), ("/v1/assistants/{id}", "put"),
            ("/v1/assistants/{id}", "delete"),
        ] { #expect(document["paths"]?[path]?[method]?["responses"] != nil, "\(method) \(path)") }
        #expect(document["paths"]?["/v1/assistants/{id}"]?["get"]?["security"] == nil)
    }

    @Test func withoutAGeneratorSpeechIsUnavailable() throws {
        let other = try TestBackend()
        let eve = try AppUser(other, "eve@example.org")
        for answer in [try speak("hello", eve), try eve.ask("GET", "/v1/speech/\(UUID().uuidString)")] {
            #expect(answer.status == 503 && answer.code == "speech_unavailable")
        }
    }
}
