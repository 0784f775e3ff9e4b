#if canImport(SwiftUI) && canImport(CarPlay) && os(iOS)
    import CopilotModel
    import PatchbayClient
    import SwiftUI

    /// The screen for the app's current state.
    struct ContentView: View {
        let app: AppCoordinator

        var body: some View {
            switch app.copilot.screen {
            case .loading: ProgressView()
            case .login: LoginScreen(copilot: app.copilot)
            case .consent: OnboardingScreen(copilot: app.copilot)
            case .home, .unreachable: HomeView(app: app)
            }
        }
    }

    struct LoginScreen: View {
        let copilot: Copilot
        @State private var email = ""
        @State private var password = ""

        var body: some View {
            Form {
                TextField("E-mail address", text: $email)
                    .textContentType(.username).keyboardType(.emailAddress).textInputAutocapitalization(.never)
                SecureField("Password", text: $password).textContentType(.password)
                if let problem = copilot.problem { Text(problem).foregroundStyle(.red) }
                Button("Log in") { Task { await copilot.logIn(email: email, password: password) } }
                Button("Create account") { Task { await copilot.register(email: email, password: password) } }
            }
            .disabled(copilot.isBusy)
        }
    }

    /// The consent screen, shown once before the first call.
    struct OnboardingScreen: View {
        let copilot: Copilot

        var body: some View {
            VStack(spacing: 24) {
                Text(Texts.consentTitle).font(.title).bold()
                Text(Texts.consent)
                Text(Texts.consentDetails).font(.footnote).foregroundStyle(.secondary)
                if let problem = copilot.problem { Text(problem).foregroundStyle(.red) }
                Button(Texts.allow) { Task { await copilot.answerConsent(true) } }.buttonStyle(.borderedProminent)
                Button(Texts.decline) { Task { await copilot.answerConsent(false) } }.buttonStyle(.bordered)
            }
            .padding()
            .disabled(copilot.isBusy)
        }
    }

    struct HomeView: View {
        let app: AppCoordinator

        var body: some View {
            let home = HomeScreen(app.callState)
            NavigationStack {
                VStack(spacing: 24) {
                    Spacer()
                    Text(home.status).font(.title2)
                    if let problem = home.microphoneProblem ?? app.copilot.problem { Text(problem).foregroundStyle(.red) }
                    switch home.button {
                    case .call:
                        Button(Texts.callButton) { app.calls.startAssistantCall(context: .phone) }
                            .buttonStyle(.borderedProminent).controlSize(.large)
                    case .hangUp:
                        Button(app.callState.isMuted ? "Unmute" : "Mute") { app.calls.setMuted(!app.callState.isMuted) }
                            .buttonStyle(.bordered)
                        Button(Texts.hangUpButton, role: .destructive) { app.calls.endAssistantCall() }
                            .buttonStyle(.borderedProminent).controlSize(.large)
                    }
                    Spacer()
                    if let notice = home.notice { Label(notice, systemImage: "record.circle").font(.footnote) }
                }
                .navigationTitle(Texts.title)
                .toolbar {
                    NavigationLink("Sessions") { SessionsListScreen(copilot: app.copilot) }
                    NavigationLink("Settings") { SettingsScreen(copilot: app.copilot) }
                }
            }
        }
    }

    struct SettingsScreen: View {
        let copilot: Copilot
        @State private var isDeleting = false

        var body: some View {
            Form {
                if let settings = copilot.settings {
                    Toggle(
                        "Logging & summaries",
                        isOn: Binding(get: { settings.loggingEnabled }, set: { isOn in Task { await copilot.setLogging(isOn) } }))
                    Stepper(
                        "Keep sessions for \(settings.retentionDays) days",
                        value: Binding(
                            get: { settings.retentionDays }, set: { days in Task { await copilot.setRetention(days: days) } }),
                        in: Settings.Values.retentionDaysRange)
                }
                Text(Texts.privacy).font(.footnote)
                Button(Texts.deleteAll, role: .destructive) { isDeleting = true }
                Button("Log out") { Task { await copilot.logOut() } }
                if let problem = copilot.problem { Text(problem).foregroundStyle(.red) }
            }
            .navigationTitle("Settings")
            .confirmationDialog(Texts.deleteAllQuestion, isPresented: $isDeleting, titleVisibility: .visible) {
                Button(Texts.deleteAll, role: .destructive) { Task { await copilot.deleteAll() } }
            }
        }
    }
#endif
