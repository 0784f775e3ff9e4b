import Testing
import Wire

@testable import PatchbayAgents

struct SpeechCacheTests {
    private static func key(_ text: String) -> SpeechCache.Key { SpeechCache.Key(text: text, voice: "alloy", provider: nil) }

    private static func speech(bytes: Int) -> [SynthesizedSpeech] {
        [SynthesizedSpeech(samples: [Int16](repeating: 1, count: bytes / 2), sampleRate: 24_000)]
    }

    @Test func theLeastRecentlyUsedTextIsDiscarded() {
        let cache = SpeechCache(limits: .init(textsMax: 2, bytesMax: 1_000))
        cache.keep(Self.speech(bytes: 10), of: Self.key("a"))
        cache.keep(Self.speech(bytes: 10), of: Self.key("b"))
        #expect(cache.speech(of: Self.key("a")) == Self.speech(bytes: 10))
        cache.keep(Self.speech(bytes: 10), of: Self.key("c"))
        #expect(cache.contains(Self.key("a")) && !cache.contains(Self.key("b")) && cache.contains(Self.key("c")))
        #expect(cache.count == 2 && cache.byteCount == 20)
    }

    @Test func bytesAreLimited() {
        let cache = SpeechCache(limits: .init(textsMax: 100, bytesMax: 1_000))
        for text in ["a", "b", "c"] { cache.keep(Self.speech(bytes: 400), of: Self.key(text)) }
        #expect(!cache.contains(Self.key("a")) && cache.count == 2 && cache.byteCount == 800)
        cache.keep(Self.speech(bytes: 1_002), of: Self.key("too long"))
        #expect(!cache.contains(Self.key("too long")) && cache.count == 2)
        cache.keep(Self.speech(bytes: 1_000), of: Self.key("all"))
        #expect(cache.contains(Self.key("all")) && cache.count == 1 && cache.byteCount == 1_000)
    }

    @Test func replacedSpeechIsNotCountedTwice() {
        let cache = SpeechCache()
        cache.keep(Self.speech(bytes: 400), of: Self.key("a"))
        cache.keep(Self.speech(bytes: 100), of: Self.key("a"))
        #expect(cache.count == 1 && cache.byteCount == 100)
        cache.keep([], of: Self.key("empty"))
        #expect(cache.speech(of: Self.key("empty")) == nil)
    }

    @Test func aTextIsPreparedByOneCallAtATime() {
        let cache = SpeechCache()
        #expect(cache.claim(Self.key("a")) && !cache.claim(Self.key("a")) && cache.claim(Self.key("b")))
        cache.release(Self.key("a"))
        #expect(cache.claim(Self.key("a")))
        cache.release(Self.key("a"))
        cache.keep(Self.speech(bytes: 10), of: Self.key("a"))
        #expect(!cache.claim(Self.key("a")))
    }
}
