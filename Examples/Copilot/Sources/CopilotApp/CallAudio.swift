#if canImport(AVFAudio) && os(iOS)
    import AVFAudio
    import Audio
    import Foundation
    import PatchbayClient
    import Wire

    /// The microphone and speaker of calls: an `AVAudioEngine` with the system's echo cancellation. It runs while CallKit keeps the audio
    /// session activated.
    @MainActor
    final class CallAudio: AssistantCallAudio {
        private struct NotPermitted: Error {}

        /// The number of 20 ms pieces to buffer: 100 ms.
        private static let piecesAhead = 5

        private let engine = AVAudioEngine()
        private var players: [TrackSID: AVAudioPlayerNode] = [:]
        private var pending: [TrackSID: Int] = [:]
        private var isActive = false
        /// The destination of the microphone; nil while no call uses it.
        private var sink: AsyncStream<[Int16]>.Continuation?

        init() {
            // A change of the route stops the engine.
            NotificationCenter.default.addObserver(
                forName: .AVAudioEngineConfigurationChange, object: engine, queue: .main
            ) { [weak self] _ in
                MainActor.assumeIsolated { self?.resume() }
            }
        }

        /// The format of tracks: 48 kHz, mono.
        private let voice = AVAudioFormat(
            commonFormat: .pcmFormatFloat32, sampleRate: Double(PCMChunk.sampleRate), channels: 1, interleaved: false)

        // MARK: The audio session

        /// Sets category and mode before the call. CallKit activates the session.
        func configureSession() throws {
            try AVAudioSession.sharedInstance().setCategory(
                .playAndRecord, mode: .voiceChat, options: [.allowBluetooth, .allowBluetoothA2DP, .allowAirPlay])
        }

        func sessionActivated() {
            isActive = true
            resume()
        }

        func sessionDeactivated() {
            isActive = false
            engine.stop()
        }

        /// Waits until the session is activated.
        ///
        /// - Throws: `CancellationError` if the call has ended.
        private func activated() async throws {
            while !isActive { try await Task.sleep(for: .milliseconds(20)) }
        }

        // MARK: The call's devices

        func microphone() async throws -> AsyncStream<[Int16]> {
            guard await AVAudioApplication.requestRecordPermission() else { throw NotPermitted() }
            try await activated()
            // Two seconds of audio. If the reader falls behind, the oldest pieces are dropped.
            let (pieces, sink) = AsyncStream.makeStream(of: [Int16].self, bufferingPolicy: .bufferingNewest(100))
            self.sink = sink
            try start(into: sink)
            return pieces
        }

        /// Starts the engine, with the format that the input has now.
        private func start(into sink: AsyncStream<[Int16]>.Continuation) throws {
            let input = engine.inputNode
            input.removeTap(onBus: 0)
            try input.setVoiceProcessingEnabled(true)
            let format = input.outputFormat(forBus: 0)
            let converter = MicrophoneConverter(rate: Int(format.sampleRate), sink: sink)
            input.installTap(onBus: 0, bufferSize: 960, format: format) { buffer, _ in converter.convert(buffer) }
            engine.prepare()
            try engine.start()
        }

        /// Continues after an interruption or a change of the route.
        private func resume() {
            guard isActive, let sink, (try? start(into: sink)) != nil else { return }
            for player in players.values { player.play() }
        }

        func play(_ chunk: PCMChunk, of track: TrackSID) async {
            guard isActive, let voice, let player = player(of: track, voice),
                let buffer = AVAudioPCMBuffer(pcmFormat: voice, frameCapacity: AVAudioFrameCount(chunk.samples.count)),
                let room = buffer.floatChannelData?.pointee
            else { return await pause() }
            for (index, sample) in chunk.samples.enumerated() { room[index] = Float(sample) / 32_768 }
            buffer.frameLength = AVAudioFrameCount(chunk.samples.count)
            pending[track, default: 0] += 1
            player.scheduleBuffer(buffer, completionCallbackType: .dataConsumed) { [weak self] _ in
                Task { @MainActor in self?.pending[track, default: 1] -= 1 }
            }
            while pending[track, default: 0] > Self.piecesAhead, isActive { await pause() }
        }

        func stop() async {
            sink = nil
            engine.inputNode.removeTap(onBus: 0)
            engine.stop()
            for player in players.values { engine.detach(player) }
            (players, pending) = ([:], [:])
        }

        private func player(of track: TrackSID, _ format: AVAudioFormat) -> AVAudioPlayerNode? {
            if let player = players[track] { return player }
            let player = AVAudioPlayerNode()
            engine.attach(player)
            engine.connect(player, to: engine.mainMixerNode, format: format)
            guard engine.isRunning || (try? engine.start()) != nil else { return nil }
            player.play()
            players[track] = player
            return player
        }

        /// Waits for the duration of a piece.
        private func pause() async {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Resamples the microphone to 48 kHz and mixes it to mono. The engine calls it sequentially on one thread.
    private final class MicrophoneConverter: @unchecked Sendable {
        private let rate: Int
        private let sink: AsyncStream<[Int16]>.Continuation
        private var resampler: Resampler?

        init(rate: Int, sink: AsyncStream<[Int16]>.Continuation) {
            self.rate = rate
            self.sink = sink
            resampler = rate == PCMChunk.sampleRate ? nil : try? Resampler(from: rate, to: PCMChunk.sampleRate)
        }

        func convert(_ buffer: AVAudioPCMBuffer) {
            guard let channel = buffer.floatChannelData?.pointee else { return }
            let samples = (0..<Int(buffer.frameLength)).map { Int16((max(-1, min(1, channel[$0])) * 32_767).rounded()) }
            guard rate != PCMChunk.sampleRate else { return _ = sink.yield(samples) }
            if let converted = try? resampler?.process(samples) { sink.yield(converted) }
        }
    }
#endif
