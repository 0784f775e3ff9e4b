import Backend
import Foundation
import Identity
import OutgoingHTTP
import PatchbayAgents
import Store
import Wire
import YAMLSettings

/// The services outside of the gateway that it sends requests to.
struct ExternalServices {
    /// Nil disables webhooks.
    var webhooks: WebhookSettings?
    /// Nil: pushes are webhooks.
    var apns: APNsSettings?
    /// The model that writes summaries; nil uses the built-in summarizer.
    var chat: ChatSummarizer.Settings?
    /// The speech server for clips, in addition to the embedded synthesizer.
    var speechServer: SpeechServer?

    /// - Throws: `UsageError`.
    init(_ reader: SettingsReader, webhooks: WebhookSettings?) throws {
        self.webhooks = webhooks
        apns = try APNsSettings(reader)
        chat = try ChatSummarizer.Settings(reader)
        speechServer = try SpeechServer(reader)
    }
}

extension WebhookSettings {
    /// - Returns: nil without endpoints.
    init?(_ reader: SettingsReader, _ keys: KeyRing) throws {
        guard let urls = try reader.texts(ifSet: "webhook.urls"), !urls.isEmpty else { return nil }
        guard urls.count <= Self.urlsMax else {
            throw UsageError("webhook.urls: \(urls.count) exceed the maximum of \(Self.urlsMax); remove some")
        }
        for (index, url) in urls.enumerated() {
            do { _ = try OutgoingURL(url) } catch { throw UsageError("webhook.urls: \(error)") }
            guard !urls[..<index].contains(url) else { throw UsageError("webhook.urls: \(url) is listed twice; remove one") }
        }
        let issuer = try reader.text(ifSet: "webhook.api_key")
        guard let key = issuer.map(keys.key(of:)) ?? keys.signer else {
            throw UsageError(
                issuer.map { "webhook.api_key: `keys` has no \"\($0)\"" }
                    ?? "webhook: signing requires a key with a secret (HS256); add one to `keys`")
        }
        guard key.algorithm == .hs256 else {
            throw UsageError("webhook.api_key: \"\(key.issuer)\" has no secret to sign with; use an HS256 key")
        }
        let authority = try reader.text(ifSet: "webhook.ca")
        if let authority, !FileManager.default.isReadableFile(atPath: authority) {
            throw UsageError("webhook.ca: \(authority) cannot be read")
        }
        self.init(urls: urls, key: key, issuer: issuer, authority: authority)
    }
}

extension APNsSettings {
    /// - Returns: nil without a key.
    init?(_ reader: SettingsReader) throws {
        let names = ["key_file", "key_id", "team_id", "topic"].map { "push.apns.\($0)" }
        let values = try names.map { try reader.text(ifSet: $0) }
        guard values[0] != nil else { return nil }
        for (name, value) in zip(names, values) where value?.isEmpty ?? true { throw UsageError("\(name) is missing") }
        let texts = values.compactMap(\.self)
        guard let pem = try? String(contentsOfFile: texts[0], encoding: .utf8) else {
            throw UsageError("push.apns.key_file: cannot read \(texts[0]); check the path and its permissions")
        }
        guard let key = ES256Key(pem: SecretText(pem)) else {
            throw UsageError(
                "push.apns.key_file: \(texts[0]) is not a private key on P-256; use the .p8 file from Apple's developer account")
        }
        self.init(
            key: key, keyID: texts[1], teamID: texts[2], topic: texts[3],
            environment: try reader.choice("push.apns.environment"))
    }
}

extension ChatSummarizer.Settings {
    /// - Returns: nil without a URL.
    init?(_ reader: SettingsReader) throws {
        guard let url = try reader.text(ifSet: "summaries.url") else { return nil }
        do { _ = try OutgoingURL(url) } catch { throw UsageError("summaries.url: \(error)") }
        guard let model = try reader.text(ifSet: "summaries.model") else { throw UsageError("summaries.model is missing") }
        self.init(url: url, model: model, authorization: try reader.text(ifSet: "summaries.api_key").map { "Bearer " + $0 })
    }
}

extension SpeechServer {
    /// - Returns: nil without a URL.
    init?(_ reader: SettingsReader) throws {
        guard let url = try reader.text(ifSet: "speech.url") else { return nil }
        guard let model = try reader.text(ifSet: "speech.model") else { throw UsageError("speech.model is missing") }
        let (name, voices) = (try reader.text("speech.provider"), try reader.texts(ifSet: "speech.voices") ?? [])
        if name == SpeechProvider.embedded.name { throw UsageError("speech.provider: \(name) is the built-in provider; use another name") }
        if let fault = AssistantDefinition.fault(inIdentifier: name) { throw UsageError("speech.provider: \(name) \(fault)") }
        for (index, voice) in voices.enumerated() {
            if let fault = AssistantDefinition.fault(inIdentifier: voice) { throw UsageError("speech.voices: \"\(voice)\" \(fault)") }
            guard !voices[..<index].contains(voice) else { throw UsageError("speech.voices: \(voice) is listed twice; remove one") }
        }
        do {
            try self.init(
                name: name, voices: voices.isEmpty ? AssistantDefinition.voices : voices, url: url, model: model,
                key: try reader.text(ifSet: "speech.api_key"))
        } catch let error as ProviderError {
            // The message uses the field names of an assistant's definition.
            let fault = error.message.replacing("base_url", with: "the URL").replacing("api_key_env", with: "speech.api_key")
            throw UsageError("speech.url: \(fault)")
        }
    }
}
