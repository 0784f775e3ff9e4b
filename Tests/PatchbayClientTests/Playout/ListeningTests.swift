import Audio
import PatchbayClient
import Synchronization
import Testing
import Wire

@Suite(.timeLimit(.minutes(3)))
struct ListeningTests {
    @Test func spokenPCMIsHeardAsPCM() async throws {
        try await repeatingWhileLate {
            let likeness = try await likenessOfSpokenAndHeard()
            return likeness.count { $0 > 0.9 } > 4 ? nil : "the likeness is \(likeness)"
        }
    }

    /// The codec changes the waveform. The loudest pieces must be there at any delay: most of them, because a player that is starved of CPU
    /// conceals audio.
    private func likenessOfSpokenAndHeard() async throws -> [Double] {
        let heard = Mutex<[Int16]>([])
        let spoken = try Sound.goForward()
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish()
            let track = try await bob.track(of: "alice")

            async let chunks = bob.pcm(of: track.sid, jitter: JitterLimits(targetDelay: .milliseconds(400))).prefix(.max)
            try await voice.speak(spoken)
            try await voice.unpublish()
            let samples = await chunks.flatMap(\.samples)
            heard.withLock { $0 = samples }
            #expect(bob.statistics.framesLost == 0)
            await alice.leave()
            await bob.leave()
        }
        var decoder = try OpusDecoder()
        let expected = try PCMSpeech(spoken).frames().flatMap { try decoder.decode($0.packet) }
        let pieces = stride(from: 0, to: expected.count - 4_800, by: 4_800).map { expected[$0..<$0 + 4_800] }
        let loudest = pieces.sorted { Sound.energy(of: $0) > Sound.energy(of: $1) }.prefix(7)
        let samples = heard.withLock { $0 }
        return loudest.map { Sound.correlation(of: $0, in: samples) }
    }

    @Test func pcmKeepsRealTimeAndEndsWithTheTrack() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish()
            let track = try await bob.track(of: "alice")
            let sound = bob.pcm(of: track.sid)
            async let speaking: Void = {
                try await voice.speak(Sound.tone(milliseconds: 300))
                try await Task.sleep(for: .milliseconds(400))
                try await voice.speak(Sound.tone(milliseconds: 300))
                try await voice.unpublish()
            }()
            let started = ContinuousClock.now
            var chunks: [PCMChunk] = []
            for await chunk in sound { chunks.append(chunk) }
            let lasted = ContinuousClock.now - started
            try await speaking

            #expect(chunks.allSatisfy { $0.samples.count == 960 })
            // All speech with its pause, and never more than the elapsed time.
            #expect(chunks.count >= 30)
            #expect(.milliseconds(20 * chunks.count) <= lasted + .milliseconds(200))
            #expect(lasted > .milliseconds(900))
            #expect(chunks.filter { $0.content == .silence }.count >= 15)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func readersOfATrackReceiveTheSame() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish()
            let track = try await bob.track(of: "alice")
            let (one, other) = (bob.frames(of: track.sid), bob.frames(of: track.sid))
            // Both streams exist before the first frame: the gateway replies to bob after adding them.
            _ = try await bob.refreshToken()
            try await voice.speak(Sound.tone(milliseconds: 200))
            try await voice.unpublish()
            let heard = await (one.prefix(.max), other.prefix(.max))
            #expect(heard.0.count == 10)
            #expect(heard.0 == heard.1)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func unknownTrackEndsAtOnce() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            #expect(await alice.frames(of: TrackSID(text: "TR_none")).prefix(1).isEmpty)
            #expect(await alice.pcm(of: TrackSID(text: "TR_none")).prefix(1).isEmpty)
            await alice.leave()
        }
    }

    @Test func framesArriveOnlyAfterSubscribing() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            var options = gateway.options
            options.autoSubscribe = false
            let bob = try await RoomConnection.connect(url: gateway.url, token: gateway.token("bob"), options: options)
            let voice = try await alice.publish()
            let track = try await bob.track(of: "alice")
            try await voice.speak(Sound.tone(milliseconds: 100))
            // Comes after the frames that would be forwarded.
            try await alice.sendData("said", topic: "t")
            _ = try await bob.first { if case .gateway(.data, _) = $0 { true } else { nil } }
            #expect(bob.statistics.framesReceived == 0)
            try await bob.subscribe(track.sid)
            try await voice.speak(Sound.tone(milliseconds: 100))
            #expect(await bob.frames(of: track.sid).prefix(5).count == 5)
            await alice.leave()
            await bob.leave()
        }
    }
}
