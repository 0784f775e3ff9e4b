import Backend
import Foundation
import HTTPServer
import Identity
import Store
import Testing
import Wire

/// The speech clips that users can find, and those that they cannot.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct SpeechListTests {
    private let tones = ToneGenerator()
    private let backend: TestBackend
    private let ann: AppUser
    private let bob: AppUser

    init() throws {
        backend = try TestBackend(assistants: [AssistantDefinition(id: "shop", voice: "onyx")], speech: tones)
        ann = try AppUser(backend)
        bob = try AppUser(backend, "bob@example.org")
    }

    private static func query(_ items: [String: String]) -> String {
        let letters = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return items.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: letters) ?? "")" }.joined(separator: "&")
    }

    private func find(_ items: [String: String], _ user: AppUser? = nil) throws -> HTTPAnswer {
        try (user ?? ann).ask("GET", "/v1/speech?" + Self.query(items))
    }

    private func clips(_ answer: HTTPAnswer) throws -> [[String: Any]] {
        guard answer.status == 200 else { throw DidNotHappen(what: "a list: \(answer.status) \(answer.text)") }
        return try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [[String: Any]])
    }

    private func job(_ text: String, _ user: AppUser? = nil, more: [String: String] = [:]) throws -> String {
        let answer = try (user ?? ann).ask("POST", "/v1/speech", ["text": text].merging(more) { $1 })
        guard answer.status == 202, let id = answer.json?["id"] as? String else { throw DidNotHappen(what: "a job: \(answer.text)") }
        return id
    }

    private func reach(_ status: String, of id: String, _ user: AppUser? = nil) throws {
        try Patience.until("the clip is \(status)") {
            try (user ?? ann).ask("GET", "/v1/speech/\(id)").json?["status"] as? String == status
        }
    }

    @Test func aTextIsLookedUpWithoutGeneratingIt() throws {
        let text = "Hello there Ann"
        #expect(try clips(find(["text": text])).isEmpty)
        tones.hold(at: 40)
        let id = try job(text)
        try Patience.until("it is generated") { try clips(find(["text": text])).first?["progress"] as? Int == 36 }
        #expect(try clips(find(["text": text])).first?["status"] as? String == "generating")
        tones.release()
        try reach("ready", of: id)
        let before = WallTime(milliseconds: WallClock.milliseconds)
        for items in [["text": text], ["text": text, "voice": "alloy"], ["text": text, "voice": "alloy", "provider": "embedded"]] {
            let found = try clips(find(items))
            #expect(found.map { $0["id"] as? String } == [id])
            #expect(found[0]["text"] as? String == text && found[0]["voice_name"] as? String == "Alloy")
            let time = try #require((found[0]["created_at"] as? String).flatMap { WallTime(text: $0) })
            #expect(time <= before && time + .seconds(120) > before)
        }
        for items in [
            ["text": text, "voice": "echo"], ["text": text, "provider": "cloud"], ["text": text, "assistant": "shop"], ["text": text + "."],
        ] { #expect(try clips(find(items)).isEmpty, "\(items)") }
        #expect(tones.texts == [text])
    }

    /// Checks both while another user's clip is generated and afterwards.
    @Test(arguments: [true, false]) func noLookupAndNoListTellsWhatOthersHaveAskedFor(_ isService: Bool) throws {
        let first = isService ? AppUser(backend, token: TestToken.assistant("shop")) : ann
        let others = [isService ? ann : AppUser(backend, token: TestToken.assistant("shop")), bob]
        tones.hold(at: 40)
        let id = try job("are you ill", first)
        for status in ["generating", "ready"] {
            if status == "ready" { tones.release() }
            try reach(status, of: id, first)
            for other in others {
                for isInQuery in [true, false] {
                    let answers = try ["are you ill", "are you well"].map { text in
                        isInQuery ? try find(["text": text], other) : try other.ask("POST", "/v1/speech/lookup", ["text": text])
                    }
                    #expect(answers[0].body == answers[1].body)
                    #expect(try clips(answers[0]).isEmpty)
                }
                #expect(try clips(other.ask("GET", "/v1/speech")).isEmpty)
                for (method, path, body) in [
                    ("GET", "", nil), ("GET", "/audio", nil), ("DELETE", "", nil), ("POST", "/play", ["room": "r"]),
                ] as [(String, String, [String: String]?)] {
                    #expect(try other.ask(method, "/v1/speech/\(id)\(path)", body).status == 404, "\(method) \(path)")
                }
            }
            #expect(try clips(find(["text": "are you ill"], first)).count == 1)
        }
    }

    @Test func aUsersClipsAreListedNewestFirstPageByPage() throws {
        let ids = try (0..<5).map { number in
            let id = try job("text \(number)")
            try reach("ready", of: id)
            return id
        }
        let foreign = try job("of Bob", bob)
        try reach("ready", of: foreign, bob)
        let all = try clips(ann.ask("GET", "/v1/speech"))
        #expect(Set(all.compactMap { $0["id"] as? String }) == Set(ids))
        let times = all.compactMap { $0["created_at"] as? String }
        #expect(times.count == 5 && times == times.sorted(by: >))

        var (path, found) = ("/v1/speech?limit=2", [String]())
        for size in [2, 2, 1] {
            let page = try ann.ask("GET", path)
            let lines = try clips(page)
            #expect(lines.count == size)
            found += lines.compactMap { $0["id"] as? String }
            path = page.fields["link"]?.split(separator: ">").first.map { String($0.dropFirst()) } ?? ""
        }
        #expect(path.isEmpty && found == all.compactMap { $0["id"] as? String })
        #expect(try ann.ask("DELETE", "/v1/speech/\(ids[0])").status == 204)
        #expect(try clips(ann.ask("GET", "/v1/speech")).count == 4)
        // Services share their clips; an administrator's list contains none of a user.
        let administrator = AppUser(backend, token: TestToken.administering { $0.roomCreate = true })
        let shared = try job("shared", AppUser(backend, token: TestToken.assistant("shop")))
        #expect(try clips(administrator.ask("GET", "/v1/speech")).map { $0["id"] as? String } == [shared])
    }

    @Test func aSecondProviderSpeaksWithItsOwnVoices() throws {
        let list = try #require(try ann.ask("GET", "/v1/speech/providers").json?["providers"] as? [[String: Any]])
        #expect(list.map { $0["id"] as? String } == ["embedded", "cloud"])
        #expect((list[1]["voices"] as? [[String: String]]) == [["id": "anna", "name": "Anna"], ["id": "emil", "name": "Emil"]])
        // The default is the first voice, even if the assistant's voice is not one of the provider's.
        for more in [["provider": "cloud"], ["provider": "cloud", "assistant": "shop"]] {
            let answer = try ann.ask("POST", "/v1/speech", ["text": "hi"].merging(more) { $1 })
            #expect(answer.json?["voice"] as? String == "anna" && answer.json?["provider"] as? String == "cloud")
        }
        try reach("ready", of: try job("hi", more: ["provider": "cloud", "voice": "emil"]))
    }

    @Test func anUnknownProviderIsRefusedAtOnce() throws {
        for (provider, voice) in [("nobody", "alloy"), ("embedded", "anna"), ("cloud", "alloy"), ("CLOUD", "anna"), ("", "anna")] {
            let wish = ["text": "hello", "provider": provider, "voice": voice]
            #expect(try ann.ask("POST", "/v1/speech", wish).status == 400, "\(wish)")
            #expect(try find(wish).status == 400, "\(wish)")
            #expect(try ann.ask("POST", "/v1/speech/lookup", wish).status == 400, "\(wish)")
        }
        let refusal = try ann.ask("POST", "/v1/speech", ["text": "hello", "provider": "nobody"])
        #expect(refusal.code == "unknown_provider" && refusal.text.contains("embedded, cloud"))
        #expect(tones.texts.isEmpty)
        #expect(try clips(ann.ask("GET", "/v1/speech")).isEmpty)
    }

    @Test func wrongTypesAndSizesAreRefused() throws {
        let long = String(repeating: "x", count: 4_097)
        for body in [
            ["text": 5], ["text": ["a"]], ["text": NSNull()], ["text": "a", "voice": 7], ["text": "a", "provider": [String]()],
            ["text": "a", "provider": ["a": "b"]], ["text": long], ["text": "a", "speed": 2], ["text": "\u{202E}\u{200F}"],
        ] as [[String: Any]] { #expect(try ann.ask("POST", "/v1/speech", body).status == 400, "\(body)") }
        for items in [
            ["text": ""], ["text": " … "], ["text": long], ["voice": "alloy"], ["provider": "embedded"], ["assistant": "shop"],
            ["limit": "0"],
            ["limit": "x"], ["cursor": "x"], ["text": "a", "voice": ""],
        ] { #expect(try find(items).status == 400, "\(items)") }
        #expect(try find(["text": "a", "assistant": "nobody"]).status == 404)
        #expect(tones.texts.isEmpty)
    }

    @Test(arguments: [
        "<b>bold</b> & \"quoted\" <script>alert(1)</script>", "مرحبا بالعالم", "שלום \u{202E}abc\u{202C} עולם", "a+b%20c&voice=echo",
        "日本語🎈", "one\ntwo\r\n\tthree",
        String(repeating: "ü", count: 2_048),
    ]) func anyTextIsFoundAgainAsItWasWritten(text: String) throws {
        try reach("ready", of: try job(text))
        // A URL cannot contain line breaks.
        if !text.contains("\n") { #expect(try clips(find(["text": text])).map { $0["text"] as? String } == [text]) }
        #expect(try clips(ann.ask("POST", "/v1/speech/lookup", ["text": text])).map { $0["text"] as? String } == [text])
        #expect(try clips(ann.ask("GET", "/v1/speech")).map { $0["text"] as? String } == [text])
        #expect(tones.texts == [text])
    }

    /// Whichever comes first, the clip is gone afterwards and can be requested again.
    @Test func aClipThatIsCancelledWhileItCompletesLeavesNothing() throws {
        for round in 0..<20 {
            tones.hold(at: 90)
            let id = try job("a close race")
            try Patience.until("it is nearly done") { try ann.ask("GET", "/v1/speech/\(id)").json?["progress"] as? Int == 81 }
            tones.release()
            Thread.sleep(forTimeInterval: Double(round) / 1_000)
            #expect(try ann.ask("DELETE", "/v1/speech/\(id)").status == 204)
            let state = try ann.ask("GET", "/v1/speech/\(id)")
            #expect(state.status == 404 || state.json?["status"] as? String == "cancelled", "\(state.text)")
            #expect(try ann.ask("GET", "/v1/speech/\(id)/audio").status == 404)
            #expect(try clips(find(["text": "a close race"])).isEmpty && clips(ann.ask("GET", "/v1/speech")).isEmpty)
        }
        tones.release()
        try reach("ready", of: try job("a close race"))
        #expect(try clips(find(["text": "a close race"])).count == 1)
    }
}
